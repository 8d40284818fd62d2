/** Colours for a terminal, by the meaning of a text. */
import { styleText } from "node:util";

export type Tone = "plain" | "title" | "quiet" | "user" | "model" | "warning" | "compaction" | "lookup" | "past";

const FORMATS = {
  plain: "reset",
  title: "bold",
  quiet: "gray",
  user: "cyan",
  model: "green",
  warning: "yellow",
  compaction: "magenta",
  lookup: "yellow",
  past: "blue",
} as const satisfies Record<Tone, Parameters<typeof styleText>[0]>;

/** Whether stdout shows colours: a capable terminal without `NO_COLOR`, or any output under `FORCE_COLOR`. */
export const showsColours = (): boolean => styleText("bold", "x", { stream: process.stdout }) !== "x";

export const colour = (text: string, tone: Tone): string =>
  tone === "plain" ? text : styleText(FORMATS[tone], text, { validateStream: false });
