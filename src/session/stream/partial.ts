/** Reads from the stored stream what a turn had said when its object died: the text of its last model call. */
import type { Frame } from "../../contract/frame";
import type { ItemId, TurnId } from "../../domain/ids";
import type { Part } from "../../domain/message";
import type { Sql } from "../log/sql";
import { type FrameLine, parseLine, startsCall } from "./frames";

const PACKS_PER_READ = 16;

/** `id`: the one that the text was shown with. */
interface PartialReply {
  readonly id: ItemId;
  readonly parts: readonly Part[];
}

/**
 * Null when nothing was stored since the call began. Frames that a failed write lost may have been those at which it began: what is found
 * then is a reply that is recorded already.
 */
export function readPartial(sql: Sql, turn: TurnId): PartialReply | null {
  const said = readNewest(sql, turn);
  return said && sql.all("SELECT 1 AS one FROM bodies WHERE id = ? LIMIT 1", said.id).length === 0 ? said : null;
}

function readNewest(sql: Sql, turn: TurnId): PartialReply | null {
  const lines: FrameLine[] = [];
  let before = Number.MAX_SAFE_INTEGER;
  for (;;) {
    const query = "SELECT first, lines FROM frames WHERE first < ? ORDER BY first DESC LIMIT ?";
    const packs = sql.all<{ first: number; lines: string }>(query, before, PACKS_PER_READ);
    for (const pack of packs) {
      const parsed = pack.lines.split("\n").map((text, index) => parseLine(text, pack.first + index));
      const mine = parsed.filter((line) => line.turn === turn);
      const start = mine.findLastIndex((line) => startsCall(line.type));
      lines.unshift(...(start >= 0 ? mine.slice(start) : mine));
      if (start >= 0) return joinDeltas(lines);
      before = pack.first;
    }
    if (packs.length < PACKS_PER_READ) return joinDeltas(lines);
  }
}

type Delta = Extract<Frame, { type: "text.delta" | "reasoning.delta" }>;

function joinDeltas(lines: readonly FrameLine[]): PartialReply | null {
  const deltas = lines.flatMap(({ type, json }) =>
    type === "text.delta" || type === "reasoning.delta" ? [JSON.parse(json) as Delta] : [],
  );
  const joinText = (type: Delta["type"]): string =>
    deltas
      .filter((delta) => delta.type === type)
      .map(({ text }) => text)
      .join("");
  const reasoning = joinText("reasoning.delta");
  const text = joinText("text.delta");
  const parts: Part[] = [];
  if (reasoning) parts.push({ type: "reasoning", text: reasoning });
  if (text) parts.push({ type: "text", text });
  const [first] = deltas;
  return first && parts.length > 0 ? { id: first.message_id, parts } : null;
}
