/** Mutants of a tenant's move to another database. */
import type { Mutant } from "./mutant.ts";

const MOVES = ["test/simulation/moves.test.ts"];

export const moves: readonly Mutant[] = [
  {
    name: "rows are written to one database while a tenant is moved",
    breaks: "I40: the database that the tenant is placed in has every row",
    file: "src/read-model/placed-projection.ts",
    find: "      for (const other of others) await writeBeside(open(other), batch);\n",
    replace: "      for (const _ of others) await writeBeside(open(read), batch);\n",
    tests: MOVES,
  },
  {
    name: "an erasure leaves out the database that is being emptied",
    breaks: "I40: no database has a row of a session whose erasure is done",
    file: "src/read-model/placed-projection.ts",
    find: "const removed = left.map((db) => removeSession(db, input).then(() => ({ rows: 0 })));",
    replace: "const removed = left.slice(1).map((db) => removeSession(db, input).then(() => ({ rows: 0 })));",
    tests: MOVES,
  },
  {
    name: "the old database is emptied while writers still use it",
    breaks: "I40: no other database has a row of the tenant",
    file: "src/app/placement.ts",
    find: '"settle", "release", "sweep"]);',
    replace: '"settle"]);',
    tests: MOVES,
  },
  {
    name: "a mover's slow step writes after its move has ended",
    breaks: "I40: no other database has a row of the tenant",
    file: "src/read-model/move-database.ts",
    find: "if (now() > until) throw",
    replace: "if (until < 0) throw",
    tests: MOVES,
  },
  {
    name: "a move leaves the bound of removed usage behind",
    breaks: "I49: what remains of usage is the months of the ledgers that were not removed",
    file: "src/app/projection/rebuild-tenant.ts",
    find: "if (before.value === null) return ok(null);",
    replace: "if (before.value !== -1) return ok(null);",
    tests: MOVES,
  },
  {
    name: "a build that lacks the binding of a tenant's database writes to the one that it has",
    breaks: "docs/databases.md: a build that does not know the tenant's database writes nothing",
    file: "src/read-model/database-for.ts",
    find: "if (bound.size === 1 && listHolding(placement).every((name) => bound.has(name))) return void known.delete(tenant);",
    replace: "if (bound.size === 1) return void known.delete(tenant);",
    tests: ["test/read-model/database-for.test.ts"],
  },
];
