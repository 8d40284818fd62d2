import type { MarkupStyle } from "./light-inlines";

const asItIs = (text: string): string => text;

/** Nothing is formatted. The address of a link follows its label. */
export const PLAIN_STYLE: MarkupStyle = {
  marks: { strong: "", emphasis: "", strikethrough: "", code: "" },
  fence: "",
  escapeCode: asItIs,
  write: asItIs,
  link: (url, label) => (label === "" || label === url ? url : `${label} (${url})`),
};
