/** Conversations as state and view in memory, for benchmarks that need no server. */
import type { ViewEntry, ViewInput } from "../../src/context/view.ts";
import type { ItemMeta, Part } from "../../src/domain/message.ts";
import type { SessionState } from "../../src/domain/state.ts";
import { toWeighedView } from "../../src/domain/view.ts";
import { call, id, item, result, viewing } from "../../test/support/builders.ts";

export interface Conversation {
  readonly state: SessionState;
  readonly view: ViewInput;
}

const TOKENS = 60;
const TEXT = "It was read aloud, slowly, to a room of nineteen people who had come in from the rain. ".repeat(3);
const SUMMARY = "They agreed on the plan, and on who does what until when. ".repeat(20);
/** One turn of eight items: a question with an answer, and a question with an answer that calls two tools. */
const SHAPE = ["user", "assistant", "user", "call", "call", "result", "result", "assistant"] as const;

function metaAt(position: number): ItemMeta {
  const what = SHAPE[(position - 1) % SHAPE.length] ?? "user";
  const turn = id("trn", Math.ceil(position / SHAPE.length));
  switch (what) {
    case "call":
      return call(position, position, { tokens: TOKENS, turn });
    case "result":
      return result(position, position - 2, { tokens: TOKENS, turn });
    default:
      return item(position, what, { tokens: TOKENS, turn });
  }
}

function buildPart(meta: ItemMeta): Part {
  const { call_id, name } = meta.tool ?? { call_id: "", name: "" };
  if (meta.kind === "tool_call") return { type: "tool_call", call_id, name, arguments: '{"order":4711}' };
  if (meta.kind === "tool_result") return { type: "tool_result", call_id, name, output: TEXT, is_error: false };
  return { type: "text", text: TEXT };
}

/** `compacted` items are behind one summary and `shown` are verbatim. The provider has counted all but the newest exchange. */
export function buildConversation({ shown, compacted }: { readonly shown: number; readonly compacted: number }): Conversation {
  const from = compacted + 1;
  const items = Array.from({ length: shown }, (_, index) => metaAt(from + index));
  const last = compacted + shown;
  const covered = { from: 1, to: compacted, items: compacted, tokens: 300, boundary_timestamp: 1, generation: 0 };
  const overlays = compacted > 0 ? [{ ...covered, kind: "summary" as const, id: id("ovl", 1) }] : [];
  const empty = viewing(items);
  const counted = last - SHAPE.length;
  const anchor = {
    epoch: 0,
    holds_in: 0,
    model: "bench",
    up_to: counted - 1,
    input: 60 * shown,
    output: 40,
    reply_to: counted,
    fixed: 0,
    at: 1,
  };
  const state = { ...empty, anchor, view: toWeighedView({ ...empty.view, overlays }) };
  const entries = items.map((meta): ViewEntry => ({ meta, parts: [buildPart(meta)] }));
  const summaries = compacted > 0 ? [SUMMARY] : [];
  const placement = { system: "Be kind.", pins: [], summaries, dropped: 0, placement: "user-message" as const };
  return { state, view: { ...placement, entries, reduced: [], namesRecall: false, signedFrom: 0, model: "m" } };
}
