/** Reads a session's messages through the API and compares them with the recording. */
import { z } from "zod";
import { type Connection, callApi } from "../support/api-client.ts";
import type { ExpectedItem } from "./plan.ts";

const part = z.discriminatedUnion("type", [
  z.object({ type: z.literal("text"), text: z.string() }),
  z.object({ type: z.literal("tool_call"), name: z.string(), arguments: z.string() }),
  z.object({ type: z.literal("tool_result"), call_id: z.string(), output: z.string() }),
]);
const item = z.object({ id: z.string(), position: z.number(), kind: z.string(), parts: z.array(part) });
export type ReadItem = z.infer<typeof item>;
const page = z.object({ data: z.array(item), has_more: z.boolean(), next_cursor: z.union([z.string(), z.number()]).nullable() });

const PAGE_SIZE = 100;

/** All messages, oldest first, page by page. */
export async function readItems(connection: Connection, session: string): Promise<readonly ReadItem[]> {
  const items: ReadItem[] = [];
  for (let after = ""; ; ) {
    const path = `/v1/sessions/${session}/messages?order=asc&limit=${PAGE_SIZE}${after}`;
    const { data, has_more, next_cursor } = page.parse(await callApi(connection, { method: "GET", path }));
    items.push(...data);
    if (!has_more || next_cursor === null) return items;
    after = `&after=${encodeURIComponent(next_cursor)}`;
  }
}

/** A tool result is truncated at this length when it is recorded (docs/policy.md), so this much of a longer one must remain. */
const RESULT_LIMIT = 30_000;

/** The first difference between the messages and the recording, in words. Null when they are equal. */
export function findDifference(expected: readonly ExpectedItem[], actual: readonly ReadItem[]): string | null {
  let position = 0;
  for (const [index, read] of actual.entries()) {
    if (read.position <= position) return `item ${index + 1}: position ${read.position} after ${position}`;
    position = read.position;
    const wanted = expected[index];
    if (!wanted) return `item ${index + 1} was not recorded: ${show(read)}`;
    if (!isEqual(wanted, read)) return `item ${index + 1} differs:\n  recorded ${show(wanted)}\n  read     ${show(read)}`;
  }
  const missing = expected[actual.length];
  return missing ? `item ${actual.length + 1} is missing: ${show(missing)}` : null;
}

function isEqual(wanted: ExpectedItem, { kind, parts }: ReadItem): boolean {
  if (wanted.kind !== kind) return false;
  if (wanted.kind === "user" || wanted.kind === "assistant") {
    return (
      parts.every((each) => each.type === "text") && parts.map((each) => (each.type === "text" ? each.text : "")).join("") === wanted.text
    );
  }
  const [only] = parts;
  if (parts.length !== 1 || only?.type !== wanted.kind) return false;
  if (wanted.kind === "tool_call") return only.type === "tool_call" && only.name === wanted.name && only.arguments === wanted.arguments;
  return only.type === "tool_result" && only.call_id === wanted.call_id && isSameOutput(wanted.output, only.output);
}

function isSameOutput(recorded: string, read: string): boolean {
  if (recorded.length <= RESULT_LIMIT) return recorded === read;
  // One less, because a character of two UTF-16 units at the limit is removed completely.
  return read.startsWith(recorded.slice(0, RESULT_LIMIT - 1));
}

const show = (value: unknown): string => JSON.stringify(value).slice(0, 400);
