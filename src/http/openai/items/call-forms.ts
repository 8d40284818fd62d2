/**
 * The forms in which a client of OpenAI's API calls its tools. A model of ours calls functions alone: a function of a namespace has a name that
 * holds both, and a tool that takes free text is a function with one argument. Pure.
 */
import { z } from "@hono/zod-openapi";
import { sha256Sync } from "../../../lib/sha256-sync";

/** How the client calls a tool that its model calls as a function. */
export interface CallForm {
  /** `custom`: with free text, in place of arguments. */
  readonly type: "function" | "custom";
  readonly name: string;
  readonly namespace: string | null;
}

/** By the function's name. A function that is not there is called by its own name. */
export type CallForms = ReadonlyMap<string, CallForm>;

/** The longest name that every provider accepts. */
const MOST_NAME = 64;
const SEPARATOR = "__";
const DIGEST = 8;

/** The name of the function. One that would be too long ends with a digest, so that two of a namespace stay apart. */
export function toFunctionName({ namespace, name }: Pick<CallForm, "namespace" | "name">): string {
  if (namespace === null) return name;
  const joined = `${namespace}${namespace.endsWith(SEPARATOR) ? "" : SEPARATOR}${name}`;
  if (joined.length <= MOST_NAME) return joined;
  return `${joined.slice(0, MOST_NAME - DIGEST - 1)}_${sha256Sync(joined).slice(0, DIGEST)}`;
}

const textArguments = z.object({ input: z.string() });

export const toTextArguments = (input: string): string => JSON.stringify({ input });

/** The text of a call. Arguments that a model wrote otherwise are the text themselves. */
export function readTextArguments(given: string): string {
  try {
    const read = textArguments.safeParse(JSON.parse(given));
    return read.success ? read.data.input : given;
  } catch {
    return given;
  }
}

/** The format of a custom tool's text. OpenAI holds its models to a grammar; others read it. */
export const textFormat = z.looseObject({ syntax: z.string().nullish(), definition: z.string().nullish() });

interface TextTool {
  readonly description?: string | null | undefined;
  readonly format?: z.infer<typeof textFormat> | null | undefined;
}

/** What the model reads of a tool that takes free text. */
export function describeTextTool({ description, format }: TextTool) {
  const grammar = format?.definition ? `\n\nThe input must match this grammar (${format.syntax ?? "lark"}):\n${format.definition}` : "";
  return {
    description: `${description ?? ""}${grammar}`.trim(),
    parameters: {
      type: "object",
      properties: { input: { type: "string", description: "The tool's whole input, as plain text" } },
      required: ["input"],
      additionalProperties: false,
    },
  };
}
