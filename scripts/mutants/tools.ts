/** What is run at most once, by whom it may be answered, and what is kept of it. */
import type { Mutant } from "./mutant.ts";

const DECIDED = ["test/domain/tools.test.ts"];
const LIVED = ["test/session/tools.test.ts"];
const ROWS = ["test/read-model/executions.test.ts"];

export const tools: readonly Mutant[] = [
  {
    name: "tools: a call is begun twice",
    breaks: "design §5: at most once for an execution",
    file: "src/domain/decide-tools.ts",
    find: 'if (found.call.started) return err({ code: "stale", reason: "call_over" });',
    replace: "",
    tests: DECIDED,
  },
  {
    name: "tools: a client answers a call that runs here",
    breaks: "design §5: a client's result answers the client's calls alone",
    file: "src/domain/decide-tools.ts",
    find: ".filter((call) => !call.server)",
    replace: "",
    tests: DECIDED,
  },
  {
    name: "tools: one request answers a call twice",
    breaks: "design §5: each call is answered once",
    file: "src/domain/decide-tools.ts",
    find: "answered.add(execution);",
    replace: "",
    tests: DECIDED,
  },
  {
    name: "tools: what waits for a person runs",
    breaks: "design §5: approvals",
    file: "src/domain/state.ts",
    find: "call.server === true && call.approval === undefined",
    replace: "call.server === true",
    tests: DECIDED,
  },
  {
    name: "tools: what was allowed runs in the life that is gone",
    breaks: "design §5: it runs in the life that was told so",
    file: "src/domain/evolve-turn.ts",
    find: "incarnation: incarnation ?? state.turn.incarnation",
    replace: "incarnation: state.turn.incarnation",
    tests: DECIDED,
  },
  {
    name: "tools: a further attempt forgets what was to run",
    breaks: "design §5: what was not begun runs in the next life",
    file: "src/domain/evolve-turn.ts",
    find: "open_calls: again?.open_calls ?? [],",
    replace: "open_calls: [],",
    tests: DECIDED,
  },
  {
    name: "tools: what was allowed waits for what runs",
    breaks: "design §5: beside what runs already",
    file: "src/session/runtime.ts",
    find: "return this.live.look?.();",
    replace: "return;",
    tests: LIVED,
  },
  {
    name: "tools: a tool is not told that its turn is over",
    breaks: "design §5: a stop reaches what runs",
    file: "src/app/tools/run-tools.ts",
    find: 'signal.addEventListener("abort", onAbort, { once: true });',
    replace: "",
    tests: LIVED,
  },
  {
    name: "tools: a day that ends while a tool runs is forgotten",
    breaks: "I3: open calls expire after 24 hours",
    file: "src/session/alarm.ts",
    find: 'if (turn?.phase === "running_tools") return',
    replace: 'if (turn?.phase === "running_tools") void',
    tests: LIVED,
  },
  {
    name: "tools: a turn that ends leaves its calls open in the object",
    breaks: "design §5: cancelled",
    file: "src/session/log/execution-rows.ts",
    find: "for (const { execution } of turn?.open_calls ?? [])",
    replace: "for (const { execution } of turn?.open_calls.slice(1) ?? [])",
    tests: LIVED,
  },
  {
    name: "tools: a turn that ends cancels the calls of others in the read model",
    breaks: "I16: the rows are those of the log",
    file: "src/read-model/statements.ts",
    find: '"turn_id = ?4 AND finished_at IS NULL"',
    replace: '"?4 IS NOT NULL AND finished_at IS NULL"',
    tests: ROWS,
  },
  {
    name: "tools: a redacted result is still read among the executions",
    breaks: "design §1.2: content can be redacted",
    file: "src/read-model/statements.ts",
    find: '"error_message = NULL, last_seq = ?5"',
    replace: '"last_seq = ?5"',
    tests: ["test/read-model"],
  },
];
