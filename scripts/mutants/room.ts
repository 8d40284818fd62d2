/** Breakages of how a turn makes room, and of what follows a failure. */
import type { Mutant } from "./mutant.ts";

export const room: readonly Mutant[] = [
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
