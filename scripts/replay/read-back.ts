/** Reads a session's messages through the API and compares them with the recording. */
import { z } from "zod";
import { type Connection, callApi } from "../support/api-client.ts";
import type { ExpectedMessage } from "./plan.ts";

const message = z.object({
  id: z.string(),
  position: z.number(),
  role: z.string(),
  content: z.array(z.object({ type: z.literal("text"), text: z.string() })),
  tool_calls: z.array(z.object({ name: z.string(), arguments: z.string() })).optional(),
  call_id: z.string().optional(),
});
export type ReadMessage = z.infer<typeof message>;
const page = z.object({ data: z.array(message), has_more: z.boolean(), next_cursor: z.union([z.string(), z.number()]).nullable() });

const PAGE_SIZE = 100;

/** All messages, oldest first, page by page. */
export async function readMessages(connection: Connection, session: string): Promise<readonly ReadMessage[]> {
  const messages: ReadMessage[] = [];
  for (let after = ""; ; ) {
    const path = `/v1/sessions/${session}/messages?order=asc&limit=${PAGE_SIZE}${after}`;
    const { data, has_more, next_cursor } = page.parse(await callApi(connection, { method: "GET", path }));
    messages.push(...data);
    if (!has_more || next_cursor === null) return messages;
    after = `&after=${encodeURIComponent(next_cursor)}`;
  }
}

/** A tool result is truncated at this length when it is recorded (docs/policy.md), so this much of a longer one must remain. */
const RESULT_LIMIT = 30_000;

/** The first difference between the messages and the recording, in words. Null when they are equal. */
export function findDifference(expected: readonly ExpectedMessage[], actual: readonly ReadMessage[]): string | null {
  let position = 0;
  for (const [index, read] of actual.entries()) {
    if (read.position <= position) return `message ${index + 1}: position ${read.position} after ${position}`;
    position = read.position;
    const wanted = expected[index];
    if (!wanted) return `message ${index + 1} was not recorded: ${show(read)}`;
    if (!isEqual(wanted, read)) return `message ${index + 1} differs:\n  recorded ${show(wanted)}\n  read     ${show(read)}`;
  }
  const missing = expected[actual.length];
  return missing ? `message ${actual.length + 1} is missing: ${show(missing)}` : null;
}

function isEqual(wanted: ExpectedMessage, read: ReadMessage): boolean {
  if (wanted.role !== read.role || wanted.call_id !== read.call_id) return false;
  const text = readText(read);
  if (wanted.role === "tool") return isSameOutput(wanted.text, text);
  const calls = read.tool_calls ?? [];
  const same = wanted.calls.every((call, index) => call.name === calls[index]?.name && call.arguments === calls[index]?.arguments);
  return wanted.text === text && wanted.calls.length === calls.length && same;
}

export const readText = ({ content }: ReadMessage): string => content.map(({ text }) => text).join("");

function isSameOutput(recorded: string, read: string): boolean {
  if (recorded.length <= RESULT_LIMIT) return recorded === read;
  // One less, because a character of two UTF-16 units at the limit is removed completely.
  return read.startsWith(recorded.slice(0, RESULT_LIMIT - 1));
}

const show = (value: unknown): string => JSON.stringify(value).slice(0, 400);
