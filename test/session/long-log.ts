/** A long log as a session of tool rounds leaves it, with a trim of the view now and then. */
import type { CompactionTrigger } from "../../src/domain/compaction-events";
import type { Event } from "../../src/domain/events";
import { evolve } from "../../src/domain/evolve";
import { initialState, type SessionState } from "../../src/domain/state";
import { appendEvents } from "../../src/session/log/event-log";
import { migrateSession } from "../../src/session/log/log-schema";
import { applyToTables } from "../../src/session/log/log-tables";
import type { Sql } from "../../src/session/log/sql";
import { id, item, itemId, RECEIPT, SESSION, settings, TENANT } from "../support/builders";

const ROUNDS_IN_TURN = 100;
const INCARNATION = "2f6f5c0e-8d5f-4c8e-9c77-0a8b2d9b3c11";

/** Writes at least so many events, with no snapshot. The tables are those of the log. */
export function writeLongLog(sql: Sql, least: number): SessionState {
  migrateSession(sql);
  let state: SessionState = initialState;
  const put = (event: Event): void => {
    for (const stored of appendEvents(sql, [event], { seq: state.seq, at: 1_000 + state.seq })) {
      const before = state;
      state = evolve(before, stored);
      applyToTables(sql, stored, before);
    }
  };
  sql.transaction(() => {
    put({ type: "SessionOpened", tenant_id: TENANT, session: SESSION, settings: settings() });
    for (let n = 1; state.seq < least; n++) for (const next of toTurn(n)) put(next(state));
  });
  return state;
}

type Next = (state: SessionState) => Event;

function* toTurn(n: number): Iterable<Next> {
  const turn = id("trn", n);
  const said = ({ next_position }: SessionState) => item(next_position, "user", { turn });
  yield (state) => ({
    type: "TurnStarted",
    turn,
    incarnation: INCARNATION,
    attempt: 1,
    item: said(state),
    tools: null,
    retry_of: null,
  });
  for (let round = 1; round <= ROUNDS_IN_TURN; round++) yield* toRound(turn, n * ROUNDS_IN_TURN + round);
  yield () => ({ type: "TurnCompleted", turn, finish: "stop" });
  yield (state) => dropAll(state, { n, trigger: "guard", keep: 4 });
}

interface Trim {
  /** Of its compaction and its overlay. */
  readonly n: number;
  readonly trigger: CompactionTrigger;
  /** The newest items that stay. */
  readonly keep: number;
}

/** All that is older leaves the view. */
export function dropAll({ view, next_position }: SessionState, { n, trigger, keep }: Trim): Event {
  const to = next_position - 1 - keep;
  const replaces = view.overlays.map(({ id: overlay }) => overlay);
  return {
    type: "EpochChanged",
    base_epoch: view.epoch,
    epoch: view.epoch + 1,
    trigger,
    compaction: id("cmp", n),
    receipt: RECEIPT,
    ops: [{ op: "drop", overlay: id("ovl", n), from: 1, to, items: to, replaces }],
  };
}

function* toRound(turn: ReturnType<typeof id<"trn">>, n: number): Iterable<Next> {
  const tool = { execution: id("exe", n), call_id: `call_${n}`, name: "read_file" };
  yield ({ view, next_position }) => ({
    type: "ModelCallFinished",
    turn,
    purpose: "turn",
    model: "test-model",
    epoch: view.epoch,
    up_to: next_position - 1,
    usage: { input: 4_000, output: 60, cached: 3_000, reasoning: 0 },
    estimate: 3_900,
    request_digest: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    outcome: "tool_calls",
    ms: 1_200,
    lease: null,
    cost: 0.012,
  });
  yield ({ next_position: at }) => ({ type: "AssistantReplied", turn, item: item(at, "assistant", { turn, id: itemId(at) }) });
  yield ({ next_position: at }) => ({ type: "ToolCalled", turn, item: item(at, "tool_call", { turn, tool }) });
  yield ({ next_position: at }) => ({
    type: "ToolResultRecorded",
    turn,
    item: item(at, "tool_result", { turn, tool: { ...tool, is_error: false } }),
    incarnation: INCARNATION,
  });
}
