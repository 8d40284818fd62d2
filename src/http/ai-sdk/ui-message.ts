/** The AI SDK's messages, as this surface shows and reads them: one for each message of a user, one for each turn. */

type JsonValue = unknown;

/** A part of the UI message stream, as `UIMessageChunk` of the AI SDK. */
export type Chunk = Readonly<Record<string, unknown>> & { readonly type: string };

interface Approval {
  readonly id: string;
  readonly approved?: boolean;
}

/** The state of a call and what belongs to it, as `UIToolInvocation` of the AI SDK has them. */
export type ToolState =
  | { readonly state: "input-available"; readonly input: JsonValue }
  | {
      readonly state: "approval-requested" | "approval-responded" | "output-denied";
      readonly input: JsonValue;
      readonly approval: Approval;
    }
  | { readonly state: "output-available"; readonly input: JsonValue; readonly output: JsonValue }
  | { readonly state: "output-error"; readonly input: JsonValue; readonly errorText: string };

export type ToolPart = ToolState & { readonly toolCallId: string } & (
    | { readonly type: `tool-${string}` }
    /** A call that ran on the server: the page only shows it. */
    | { readonly type: "dynamic-tool"; readonly toolName: string; readonly providerExecuted: true }
  );

interface FilePart {
  readonly type: "file";
  readonly mediaType: string;
  readonly url: string;
  readonly filename?: string;
}

export type UiPart =
  | { readonly type: "step-start" }
  | { readonly type: "text"; readonly text: string; readonly state?: "done" }
  | { readonly type: "reasoning"; readonly id: string; readonly text: string; readonly state: "done" }
  | FilePart
  | ToolPart;

export interface UiMessage {
  readonly id: string;
  readonly role: "system" | "user" | "assistant";
  readonly metadata?: Readonly<Record<string, string>>;
  readonly parts: readonly UiPart[];
}

/** The arguments of a call. A model may write what is no JSON: then the page gets its text. */
export const readJson = (text: string): JsonValue => {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
};

/** An output as the record keeps it. A text that would read as other JSON is kept as JSON, so that it comes back as it was. */
export function writeOutput(output: JsonValue): string {
  if (typeof output !== "string") return JSON.stringify(output ?? null);
  return readJson(output) === output ? output : JSON.stringify(output);
}

/** Names the reasoning of a step. A replay and the history give it the same name. */
export const nameReasoning = (step: number, nth: number): string => `reasoning-${step}-${nth}`;

/** Neighbouring parts of one type are one part, because the live stream does not tell where one ends. */
export function joinRuns(content: readonly { readonly type: string; readonly text?: string }[]): readonly TextRun[] {
  const runs: TextRun[] = [];
  for (const { type, text = "" } of content) {
    if ((type !== "text" && type !== "reasoning") || text === "") continue;
    const last = runs.at(-1);
    if (last?.type === type) last.text += text;
    else runs.push({ type, text });
  }
  return runs;
}

/** Text or reasoning of a reply, up to where the other begins. */
export interface TextRun {
  readonly type: "text" | "reasoning";
  text: string;
}
