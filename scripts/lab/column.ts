/** What the lab replays: recorded conversations back to back as one session, in one window. */
import { readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { planSteps } from "../replay/plan.ts";
import { type Conversation, readConversations } from "../replay/recording.ts";
import { Failure } from "../support/output.ts";
import type { Column } from "./engine/steps";

export function toColumn(name: string, window: number, conversations: readonly Conversation[]): Column {
  const system = conversations.find((conversation) => conversation.system)?.system ?? null;
  return { name, window, system, steps: conversations.flatMap(planSteps) };
}

/** The number of times that the recording is played in a row. */
export const repeated = (column: Column, times: number): Column => ({
  ...column,
  steps: Array.from({ length: times }, () => column.steps).flat(),
});

/** The columns of docs/policy-figures.md that the shared traces make. */
const SUPPORT = "airline-support.jsonl";
const SUPPORT_COLUMNS = [
  { name: "support 16k", window: 16_000, conversations: 25 },
  { name: "support 32k", window: 32_000, conversations: 50 },
] as const;
const WINDOW = 16_000;
const MOST_CONVERSATIONS = 10_000;

/** One column for each recording in `folder`, two for the support conversations. `window`: the window of all columns. */
export function readColumns(folder: string, window: number | null): Column[] {
  const files = listRecordings(folder);
  return files.flatMap((file) => {
    const conversations = readConversations(join(folder, file), MOST_CONVERSATIONS);
    if (file !== SUPPORT) return [toColumn(basename(file, ".jsonl"), window ?? WINDOW, conversations)];
    return SUPPORT_COLUMNS.map((made) => toColumn(made.name, window ?? made.window, conversations.slice(0, made.conversations)));
  });
}

function listRecordings(folder: string): string[] {
  try {
    const files = readdirSync(folder).filter((name) => name.endsWith(".jsonl"));
    if (files.length === 0) throw new Failure(`${folder} holds no recordings (*.jsonl)`);
    return files.sort();
  } catch (error) {
    if (error instanceof Failure) throw error;
    throw new Failure(`${folder} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}
