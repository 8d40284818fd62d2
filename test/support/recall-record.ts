/** A record in its own database, all of it out of the view, and the code of the session's object that searches it. */
import { type IdKinds, type IdPrefix, parseId } from "../../src/domain/ids";
import type { ItemKind, ItemMeta, Part } from "../../src/domain/message";
import { initialState, type SessionState } from "../../src/domain/state";
import { createContent } from "../../src/session/content";
import { writeBody } from "../../src/session/log/bodies";
import { migrateSession } from "../../src/session/log/log-schema";
import type { Sql } from "../../src/session/log/sql";
import type { RecallPorts } from "../../src/session/recall/recall";

const START = Date.UTC(2026, 0, 5, 9);
const MINUTE = 60_000;
const MOST_AT_ONCE = 1_000;

export interface RecordedText {
  readonly kind: ItemKind;
  readonly text: string;
}

export function madeId<P extends IdPrefix>(prefix: P, n: number): IdKinds[P] {
  const id = parseId(prefix, `${prefix}_01HZZZZZZZ${String(n).padStart(16, "0")}`);
  if (!id) throw new TypeError(`no id of ${prefix}`);
  return id;
}

/** Positions are indexes + 1, a minute apart. */
export function buildRecord(sql: Sql, texts: readonly RecordedText[]): RecallPorts {
  migrateSession(sql);
  return recordedFrom(sql, texts, 0);
}

/** The record with more items at its end. */
export const appendRecord = ({ sql, state }: RecallPorts, texts: readonly RecordedText[]): RecallPorts =>
  recordedFrom(sql, texts, state().next_position - 1);

function recordedFrom(sql: Sql, texts: readonly RecordedText[], last: number): RecallPorts {
  for (let start = 0; start < texts.length; start += MOST_AT_ONCE) {
    sql.transaction(() => {
      for (const [index, said] of texts.slice(start, start + MOST_AT_ONCE).entries()) writeItem(sql, said, last + start + index + 1);
    });
  }
  const next_position = last + texts.length + 1;
  const state: SessionState = { ...initialState, lifecycle: "open", session: madeId("ses", 1), next_position };
  const schedule = (_: number, work: () => void): (() => void) => {
    queueMicrotask(work);
    return () => {};
  };
  return { sql, content: createContent(sql, () => state), schedule, state: () => state, window: null };
}

/** A result belongs to the call before it. */
function writeItem(sql: Sql, { kind, text }: RecordedText, position: number): void {
  const id = madeId("msg", position);
  const tool = { execution: executionAt(kind === "tool_result" ? position - 1 : position), call_id: `call_${position}`, name: "look_up" };
  const isOfTool = kind === "tool_call" || kind === "tool_result";
  const meta: ItemMeta = {
    id,
    kind,
    position,
    turn: null,
    at: START + position * MINUTE,
    bytes: text.length,
    tokens: 0,
    ...(isOfTool && { tool }),
  };
  sql.all("INSERT INTO items (position, meta) VALUES (?, ?)", position, JSON.stringify(meta));
  writeBody(sql, { id, text: JSON.stringify([buildPart(kind, text, tool.call_id)]) });
}

export const executionAt = (position: number): IdKinds["exe"] => madeId("exe", position);

function buildPart(kind: ItemKind, text: string, call_id: string): Part {
  if (kind === "tool_call") return { type: "tool_call", call_id, name: "look_up", arguments: text };
  if (kind === "tool_result") return { type: "tool_result", call_id, name: "look_up", output: text, is_error: false };
  return { type: "text", text };
}
