/** What outlives a crash, a retry, a second delivery. */
import { DOMAIN, type Mutant, SIMULATION } from "./mutant.ts";

export const life: readonly Mutant[] = [
  {
    name: "a turn that a crash left open is not found",
    breaks: "I3: every turn ends",
    file: "src/session/runtime.ts",
    find: 'if (turn?.phase !== "generating" || turn.incarnation === incarnation) return;',
    replace: 'if (turn?.phase !== "generating" || turn.incarnation !== "") return;',
    tests: SIMULATION,
    seeds: 100,
  },
  {
    name: "a stopped turn goes on speaking",
    breaks: "I12: a turn that ended says nothing more",
    file: "src/app/ask-model.ts",
    find: "if (call.signal.aborted) break;",
    replace: "",
    tests: ["test/session/runtime.test.ts"],
  },
  {
    name: "a steady stream goes on beyond the total",
    breaks: "design §4: three deadlines",
    file: "src/app/watch-deadlines.ts",
    find: "return Math.min(next, startedAt + deadlines.totalMs);",
    replace: "return next;",
    tests: ["test/app/watch-deadlines.test.ts"],
  },
  {
    name: "between two tokens the first one's deadline holds",
    breaks: "design §4: three deadlines",
    file: "src/app/watch-deadlines.ts",
    find: "lastAt + deadlines.idleMs;",
    replace: "lastAt + deadlines.firstTokenMs;",
    tests: ["test/app/watch-deadlines.test.ts"],
  },
  {
    name: "the live stream is stored only when it is late",
    breaks: "design §1.7: at most one flush behind",
    file: "src/session/stream/stream-buffer.ts",
    find: " || this.#units + this.#delta.text.length >= FLUSH_AT_UNITS",
    replace: "",
    tests: ["test/session/event-log.test.ts"],
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
