/** Deliberate breakages of how tenants' limits are held. */
import type { Mutant } from "./mutant.ts";

const METER = ["test/app/slot-meter.test.ts"];
const MESSAGES = ["test/domain/message-limit.test.ts"];
const DIRECTORY = ["test/tenant/session-limits.test.ts"];
const SEEDS = ["test/simulation/limits.test.ts"];

export const limits: readonly Mutant[] = [
  {
    name: "a lease that is asked for again is granted again",
    breaks: "slots of all leases are never more than the limit",
    file: "src/tenant/limits/slot-leases.ts",
    find: "if (known !== null) return",
    replace: "if (known === -1) return",
    tests: METER,
  },
  {
    name: "a late renewal makes a lease as large as it was",
    breaks: "a lease is only made smaller",
    file: "src/tenant/limits/slot-leases.ts",
    find: "slots = min(slots, ?)",
    replace: "slots = max(slots, ?)",
    tests: METER,
  },
  {
    name: "an isolate uses a lease that has ended",
    breaks: "slots of all leases are never more than the limit",
    file: "src/app/slot-pool.ts",
    find: "if (lease.endsAt > now) slots += lease.slots;",
    replace: "slots += lease.slots;",
    tests: METER,
  },
  {
    name: "what runs is granted no slot beyond the limit",
    breaks: "what runs already is counted",
    file: "src/app/slot-grants.ts",
    find: "const needed = isRunning ? need : Math.min(need, free);",
    replace: "const needed = Math.min(need, free);",
    tests: METER,
  },
  {
    name: "an earlier life gives the slot of a later one back",
    breaks: "a session that was recovered keeps its slot",
    file: "src/app/slot-pool.ts",
    find: "pool.holds.get(id)?.life === life && pool.holds.delete(id)",
    replace: "pool.holds.delete(id)",
    tests: METER,
  },
  {
    name: "an isolate uses the slot of a session that it has lost",
    breaks: "I48: no more turns run than the limit, though a session is recovered in another isolate",
    file: "src/app/slot-pool.ts",
    find: "if (pool.holds.size < before) shrinkTo(pool, pool.holds.size);",
    replace: "",
    tests: METER,
  },
  {
    name: "a turn that does not run yet is granted a slot beyond the limit",
    breaks: "I48: only what runs already has slots beyond the limit",
    file: "src/app/slot-grants.ts",
    find: "const needed = isRunning ? need : Math.min(need, free);",
    replace: "const needed = need;",
    tests: SEEDS,
  },
  {
    name: "messages that wait do not count",
    breaks: "a session has no more messages than its limit",
    file: "src/domain/message-limit.ts",
    find: "messages + waiting + brought > messageLimit",
    replace: "messages + brought > messageLimit",
    tests: MESSAGES,
  },
  {
    name: "a session counts for the end user that it was taken from",
    breaks: "a session counts for whom it was last given to",
    file: "src/tenant/shared/directory.ts",
    find: 'sql.rows("UPDATE sessions SET given_to = ? WHERE id = ?", endUser, session);',
    replace: "",
    tests: DIRECTORY,
  },
  {
    name: "a turn that starts has a slot or not",
    breaks: "no more turns run than the limit",
    file: "src/session/limits.ts",
    find: "return refused ? err(toSlotRefusal(refused)) : null;",
    replace: "return null;",
    tests: SEEDS,
  },
  {
    name: "a turn that has ended keeps its slot",
    breaks: "at rest no slot is held",
    file: "src/session/limits.ts",
    find: "if (this.#entering === 0) this.#free();",
    replace: "",
    tests: SEEDS,
  },
];
