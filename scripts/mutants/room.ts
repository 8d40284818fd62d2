/** Breakages of how a turn makes room, and of what follows a failure. */
import type { Mutant } from "./mutant.ts";

export const room: readonly Mutant[] = [
  {
    name: "what a reply's count leaves out weighs nothing",
    breaks: "I6: frames and ids of calls are in the next request",
    file: "src/context/budget.ts",
    find: "return added > 0 ? added + uncounted : 0;",
    replace: "return added;",
    tests: ["test/context/budget.test.ts", "test/scripts/margin.test.ts"],
  },
  {
    name: "a short text is off by its quarter alone",
    breaks: "I6: the guard's margin",
    file: "src/context/budget.ts",
    find: "const LEAST_ERROR_TOKENS = 8;",
    replace: "const LEAST_ERROR_TOKENS = 0;",
    tests: ["test/scripts/margin.test.ts"],
  },
  {
    name: "the guard goes by what a request is believed to weigh, not by the most that it may",
    breaks: "I6: what is shown is unpadded, what is decided by is not",
    file: "src/context/budget.ts",
    find: "=> tokens + error_bound;",
    replace: "=> tokens;",
    tests: ["test/context/budget.test.ts", "test/scripts/margin.test.ts"],
  },
  {
    name: "a receipt's gain is raw",
    breaks: "docs/design.md §9: each rung's gain is in the unit of current_context_tokens",
    file: "src/context/epoch-draft.ts",
    find: "Math.max(0, source + earlier - summary.tokens) * ratioOf(input.state, input.limits.model)",
    replace: "Math.max(0, source + earlier - summary.tokens)",
    tests: ["test/context/epoch-draft.test.ts"],
  },
  {
    name: "a turn asks again after its answer has begun",
    breaks: "design §5: an overflow is only rescued while nothing was said",
    file: "src/app/turn/try-model.ts",
    find: "const next = silent ?",
    replace: "const next = outcome ?",
    tests: ["test/session/rescue.test.ts"],
  },
  {
    name: "a stop counts as an attempt of the summariser",
    breaks: "design §9: a stop gives the lease back",
    file: "src/domain/evolve-compaction.ts",
    find: 'requested && failure === "aborted" ?',
    replace: "requested && false ?",
    tests: ["test/session/inline.test.ts"],
  },
  {
    name: "nobody waits for a background worker",
    breaks: "design §5: inline work waits for a running lease",
    file: "src/app/turn/make-room.ts",
    find: "await ports.held.arrival(WAIT_FOR_LEASE_MS);",
    replace: "",
    tests: ["test/session/inline.test.ts"],
  },
  {
    name: "a failed compaction is asked for again at once",
    breaks: "design §9: after the next response",
    file: "src/app/turn/after-turn.ts",
    find: "if (compaction.failed_after !== last_turn.id)",
    replace: "",
    tests: ["test/session/breaker.test.ts"],
  },
];
