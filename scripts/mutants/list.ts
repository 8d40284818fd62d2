/**
 * Deliberate breakages, each a replacement in one source file, with the promise that it breaks and the tests that are expected
 * to notice. `find` occurs exactly once in its file, so that a change of the code that makes a mutant meaningless is seen.
 */

import { room } from "./room.ts";

export interface Mutant {
  readonly name: string;
  /** Whose promise it breaks: of docs/invariants.md or docs/design.md. */
  readonly breaks: string;
  readonly file: string;
  readonly find: string;
  readonly replace: string;
  /** Test files or folders that should notice, run first. */
  readonly tests: readonly string[];
  /** Seeds of the simulation, should the tests not notice. */
  readonly seeds?: number;
}

const DOMAIN = ["test/domain"];
const CONTEXT = ["test/context"];
const SIMULATION: readonly string[] = [];

const fencing: readonly Mutant[] = [
  {
    name: "the lease's token is not compared",
    breaks: "I4: a lower token never commits",
    file: "src/domain/decide-compaction.ts",
    find: 'return lease?.token === command.token ? null : "lease_lost";',
    replace: "return null;",
    tests: DOMAIN,
  },
  {
    name: "a running lease is given out again",
    breaks: "I4: one worker at a time",
    file: "src/domain/decide-compaction.ts",
    find: "if (runs && !command.takeOver) return",
    replace: "if (runs && false) return",
    tests: DOMAIN,
  },
  {
    name: "a token is given out twice",
    breaks: "I4: each lease token at most once",
    file: "src/domain/evolve-compaction.ts",
    find: "next_token: token + 1,",
    replace: "next_token: token,",
    tests: SIMULATION,
    seeds: 60,
  },
  {
    name: "the base epoch is not compared",
    breaks: "I4: an epoch is changed on the epoch that stands",
    file: "src/domain/decide-compaction.ts",
    find: "if (command.change.base_epoch !== state.view.epoch || lease.base_epoch !== state.view.epoch) return",
    replace: "if (false) return",
    tests: DOMAIN,
  },
  {
    name: "the covered range is not compared",
    breaks: "I4: a summary covers what was leased",
    file: "src/domain/decide-compaction.ts",
    find: "op.from === lease.range.from && op.to === lease.range.to && op.keeps",
    replace: "op.keeps",
    tests: DOMAIN,
  },
  {
    name: "a background result takes effect inside a turn",
    breaks: "design §5: inside a turn only inline work changes the epoch",
    file: "src/domain/decide-compaction.ts",
    find: 'if (state.turn && !isInside(command.inside, state)) return stale("not_idle");\n  if (command.change',
    replace: "if (command.change",
    tests: DOMAIN,
  },
  {
    name: "any compaction can be taken back, not only the newest",
    breaks: "I22: newest first",
    file: "src/domain/decide-compaction.ts",
    find: "return newest === command.reverts ? decideTakingBack",
    replace: "return newest !== null ? decideTakingBack",
    tests: DOMAIN,
  },
  {
    name: "an idempotency key is not looked up",
    breaks: "I1: one key leads to one outcome",
    file: "src/session/calls/message-calls.ts",
    find: 'if (seen.kind === "seen") return ok(seen.accepted);',
    replace: "",
    tests: SIMULATION,
    seeds: 60,
  },
];

const view: readonly Mutant[] = [
  {
    name: "the cut keeps one group too few",
    breaks: "design §5: the longest tail within the budget",
    file: "src/context/cut.ts",
    find: "if (tokens > budget) return { fits: Math.max(1, kept - 1),",
    replace: "if (tokens > budget) return { fits: Math.max(1, kept - 2),",
    tests: CONTEXT,
  },
  {
    name: "the cut goes past an open call",
    breaks: "I5: no result stands alone",
    file: "src/context/cut.ts",
    find: "Math.max(1, forced, countOpen(groups, open), countAfter(",
    replace: "Math.max(1, forced, countAfter(",
    tests: CONTEXT,
  },
  {
    name: "a call without its result stays without one",
    breaks: "I5: each call has its result",
    file: "src/context/view.ts",
    find: 'messages.push({ role: "tool", parts: result ? partsOf(result) : [missing] });',
    replace: 'if (result) messages.push({ role: "tool", parts: partsOf(result) });',
    tests: CONTEXT,
  },
  {
    name: "the guard is off",
    breaks: "I6: within the window",
    file: "src/context/guard.ts",
    find: "if (next.tokens <= limit) return",
    replace: "if (next.tokens >= 0) return",
    tests: CONTEXT,
  },
  {
    name: "a count of an earlier epoch anchors the measure",
    breaks: "design §5: usage from before an epoch change never triggers",
    file: "src/context/budget.ts",
    find: "anchor?.epoch === view.epoch && anchor.model === model ? anchor : null;",
    replace: "anchor?.model === model ? anchor : null;",
    tests: CONTEXT,
  },
  {
    name: "a call that was under way in the old epoch counts in the new one",
    breaks: "design §9: its count does not come back as the new request's",
    file: "src/domain/evolve-turn.ts",
    find: "anchor: ours ? anchorOf(state, event, usage) : state.anchor,",
    replace: "anchor: anchorOf(state, { ...event, epoch: state.view.epoch }, usage),",
    tests: DOMAIN,
  },
  {
    name: "what must stay leaves with what is summarised",
    breaks: "I23: the question is in every request",
    file: "src/domain/evolve-compaction.ts",
    find: "shows: (position) => position > to || keeps.has(position) });",
    replace: "shows: (position) => position > to });",
    tests: DOMAIN,
  },
  {
    name: "the question goes when no summary can be had",
    breaks: "I23: the question is in every request",
    file: "src/context/planner.ts",
    find: "const mayGo = proposal.older.filter((group) => !group.items.some((item) => kept.has(item.position)));",
    replace: "const mayGo = proposal.older.filter(() => kept !== undefined);",
    tests: CONTEXT,
  },
  {
    name: "pins are lost at an epoch",
    breaks: "I23: pins are in every request",
    file: "src/domain/evolve-compaction.ts",
    find: "return withCompaction({ ...state, view, anchor: null }, compaction);",
    replace: "return withCompaction({ ...state, view, anchor: null, pins: state.pins.slice(1) }, compaction);",
    tests: SIMULATION,
    seeds: 100,
  },
  {
    name: "the running sum forgets what is appended",
    breaks: "I18: the running sum is a fresh sum",
    file: "src/domain/view.ts",
    find: "tokens: view.tokens + items.reduce((sum, item) => sum + item.tokens, 0) };",
    replace: "tokens: view.tokens + (items[0]?.tokens ?? 0) * 0 };",
    tests: SIMULATION,
    seeds: 60,
  },
  {
    name: "settings change the request and not the epoch",
    breaks: "I7: between two epochs a request only grows at its end",
    file: "src/domain/evolve.ts",
    find: "return newEpoch({ ...state, settings, compaction: { ...state.compaction, ...reopened } }, state.view);",
    replace: "return { ...state, settings, compaction: { ...state.compaction, ...reopened }, anchor: null };",
    tests: DOMAIN,
  },
  {
    name: "positions leave a gap",
    breaks: "I10: positions count without gaps",
    file: "src/domain/append-items.ts",
    find: "next_position: last.position + 1,",
    replace: "next_position: last.position + 2,",
    tests: DOMAIN,
  },
];

const summaries: readonly Mutant[] = [
  {
    name: "a summary that was cut off is accepted",
    breaks: "design §5: finished normally",
    file: "src/context/summary-check.ts",
    find: 'if (candidate.finish === "length") return err("cut_off");\n  if (candidate.finish !== "stop")',
    replace: 'if (candidate.finish !== "stop" && candidate.finish !== "length")',
    tests: CONTEXT,
  },
  {
    name: "a summary that makes the view no smaller is accepted",
    breaks: "I20: the view is smaller than before",
    file: "src/app/settle-compaction.ts",
    find: '>= state.view.tokens) return "not_smaller";',
    replace: '>= Number.POSITIVE_INFINITY) return "not_smaller";',
    tests: SIMULATION,
    seeds: 400,
  },
  {
    name: "what is quoted can close its delimiters",
    breaks: "design §5: delimiters that the content cannot close",
    file: "src/context/delimiters.ts",
    find: 'text.replace(patternOf(tag), () => "&lt;");',
    replace: "text.replace(patternOf(tag), (bracket) => bracket);",
    tests: CONTEXT,
  },
  {
    name: "a text is cut inside a character",
    breaks: "design §5: never inside a character",
    file: "src/context/tool-results.ts",
    find: "return text.slice(0, isHighSurrogate(text.charCodeAt(length - 1)) ? length - 1 : length);",
    replace: "return text.slice(0, length);",
    tests: CONTEXT,
  },
  {
    name: "a part of a fold leaves out what did not fit into the one before",
    breaks: "I19: whatever a summary stands for was read",
    file: "src/context/fold.ts",
    find: "const position = count > 0 ? following.position : next.position;",
    replace: "const position = following.position > 0 ? next.position : 0;",
    tests: ["test/session/transcript.test.ts"],
    seeds: 200,
  },
  {
    name: "a fold goes on under another plan",
    breaks: "I19: whatever a summary stands for was read",
    file: "src/domain/evolve-compaction.ts",
    find: "isSameFold(requested.folded, requested.folded_for, event);",
    replace: "event.token > 0;",
    tests: DOMAIN,
  },
  {
    name: "the earlier summary is not read when both become one",
    breaks: "I19: whatever a summary stands for was read",
    file: "src/app/summary-request.ts",
    find: "const summaries = plan.merge ? content.readSummaries().map(withoutFileOps) : [];",
    replace: "const summaries: string[] = [];",
    tests: SIMULATION,
    seeds: 100,
  },
  {
    name: "trimmed messages are summarised from a request that does not show them",
    breaks: "I19: whatever a summary stands for was read",
    file: "src/context/proposal.ts",
    find: "&& !hasTrimmed(state, items[end - 1]?.position ?? 0);",
    replace: "&& (hasTrimmed(state, items[end - 1]?.position ?? 0) || true);",
    tests: CONTEXT,
  },
  {
    name: "the breaker is ignored",
    breaks: "I21: while it is open no model is asked",
    file: "src/context/planner.ts",
    find: "const breaker_open = isBreakerOpen(state);",
    replace: "const breaker_open = isBreakerOpen(state) && state.seq < 0;",
    tests: CONTEXT,
  },
  {
    name: "failures never open the breaker",
    breaks: "I21: three failures open it",
    file: "src/domain/evolve-compaction.ts",
    find: "const opens = counts && failures >= FAILURES_TO_OPEN;",
    replace: "const opens = counts && failures < 0;",
    tests: DOMAIN,
  },
];

const life: readonly Mutant[] = [
  {
    name: "a turn that a crash left open is not found",
    breaks: "I3: every turn ends",
    file: "src/session/runtime.ts",
    find: 'if (turn?.phase === "generating" && turn.incarnation !== this.deps.incarnation) {',
    replace: 'if (turn?.phase === "generating" && turn.incarnation === "") {',
    tests: SIMULATION,
    seeds: 100,
  },
  {
    name: "a stopped turn goes on speaking",
    breaks: "I12: a turn that ended says nothing more",
    file: "src/app/run-turn.ts",
    find: "if (live.abort.signal.aborted) break;",
    replace: "",
    tests: ["test/session/runtime.test.ts"],
  },
  {
    name: "whoever waits longer comes later",
    breaks: "I1: acknowledged messages keep their order",
    file: "src/domain/evolve.ts",
    find: "queue: event.front ? [event.message, ...state.queue] : [...state.queue, event.message] };",
    replace: "queue: [event.message, ...state.queue] };",
    tests: DOMAIN,
  },
  {
    name: "the rows' checkpoint runs ahead of what was written",
    breaks: "I16: the rows are what the log makes",
    file: "src/app/project.ts",
    find: "if (source.checkpoint() === from) source.setCheckpoint(last.seq);",
    replace: "if (source.checkpoint() === from) source.setCheckpoint(last.seq + 1);",
    tests: ["test/app"],
    seeds: 60,
  },
];

export const MUTANTS: readonly Mutant[] = [...fencing, ...view, ...summaries, ...life, ...room];
