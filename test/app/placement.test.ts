import { describe, expect, it } from "vitest";
import {
  beginMove,
  cancelMove,
  chooseDatabase,
  endPhase,
  FIRST_PLACEMENT,
  findWait,
  listWritten,
  MAX_DATABASE_BYTES,
  noteProgress,
  PLACEMENT_TTL_MS,
  type Placement,
  rankSize,
  SETTLE_MS,
} from "../../src/app/placement";

const begin = (to: string): Placement => {
  const begun = beginMove(FIRST_PLACEMENT, to, 1_000);
  if (!begun.ok) throw new Error(begun.error.code);
  return begun.value;
};

/** Every placement of a move, the first one and the last one included. */
function* walk(to: string): Generator<Placement> {
  let placement = begin(to);
  for (; placement.move; placement = endPhase(placement, 1_000)) yield placement;
  yield placement;
}

const phases = [...walk("DB_2")].map(({ database, move, ...rest }) => ({
  phase: move?.phase ?? null,
  read: database,
  written: listWritten({ database, move, ...rest }),
}));

describe("a move", () => {
  it("switches readers while writers write to both databases, before and after", () => {
    expect(phases).toEqual([
      { phase: "prepare", read: "DB", written: ["DB"] },
      { phase: "announce", read: "DB", written: ["DB", "DB_2"] },
      { phase: "copy", read: "DB", written: ["DB", "DB_2"] },
      { phase: "verify", read: "DB", written: ["DB", "DB_2"] },
      { phase: "settle", read: "DB_2", written: ["DB_2", "DB"] },
      { phase: "release", read: "DB_2", written: ["DB_2"] },
      { phase: "clean", read: "DB_2", written: ["DB_2"] },
      { phase: "sweep", read: "DB_2", written: ["DB_2"] },
      { phase: null, read: "DB_2", written: ["DB_2"] },
    ]);
  });

  it("waits longer than readers and writers keep what they know, wherever these must have learned of a change", () => {
    const waits = [...walk("DB_2")].map((placement) => findWait(placement, 1_000));

    expect(waits).toEqual([0, SETTLE_MS, 0, 0, SETTLE_MS, SETTLE_MS, 0, SETTLE_MS, 0]);
    expect(SETTLE_MS).toBeGreaterThan(PLACEMENT_TTL_MS);
    const [, announced] = [...walk("DB_2")];
    expect(announced && [findWait(announced, 1_000 + SETTLE_MS - 1), findWait(announced, 1_000 + SETTLE_MS)]).toEqual([1, 0]);
  });

  it("has a larger version after each change, so that of two movers one goes on", () => {
    const versions = [...walk("DB_2")].map(({ version }) => version);

    expect(versions).toEqual([...versions].sort((a, b) => a - b));
    expect(new Set(versions).size).toBe(versions.length);
    const [first] = [...walk("DB_2")];
    expect(first && noteProgress(first, { sessions: 1 }).version).toBeGreaterThan(first?.version ?? 0);
  });

  it("verifies again, and does not switch, while a session is not equal", () => {
    const verifying = [...walk("DB_2")].find(({ move }) => move?.phase === "verify");
    if (!verifying) throw new Error("no such phase");

    expect(endPhase(noteProgress(verifying, { unequal: 1 }), 2_000)).toMatchObject({
      database: "DB",
      move: { phase: "verify", unequal: 0 },
    });
  });

  it("is found again under the same target, and refused for another one and for the tenant's own database", () => {
    const moving = begin("DB_2");

    expect(beginMove(moving, "DB_2", 2_000)).toEqual({ ok: true, value: moving });
    expect(beginMove(moving, "DB_3", 2_000)).toMatchObject({ ok: false, error: { code: "move_conflict", to: "DB_2" } });
    expect(beginMove(FIRST_PLACEMENT, "DB", 2_000)).toMatchObject({ ok: false, error: { code: "already_there" } });
  });

  it("ends in the tenant's own database when it is cancelled before the switch, and twice is as good as once", () => {
    for (const placement of [...walk("DB_2")].filter(({ database }) => database === "DB")) {
      const cancelled = cancelMove(placement, 5_000);
      if (!cancelled.ok) throw new Error(cancelled.error.code);

      expect(cancelled.value).toMatchObject({ database: "DB", move: { from: "DB_2", to: "DB", phase: "release", since: 5_000 } });
      expect(listWritten(cancelled.value)).toEqual(["DB"]);
      expect(cancelMove(cancelled.value, 6_000)).toEqual(cancelled);
    }
  });

  it("is not cancelled after its switch, and where none is under way nothing changes", () => {
    const switched = [...walk("DB_2")].filter(({ database }) => database === "DB_2");

    const answers = switched.map((placement) => cancelMove(placement, 5_000));
    const refused = { ok: false, error: { code: "move_conflict", reason: "switched", to: "DB_2" } };
    expect(answers).toEqual([refused, refused, refused, refused, { ok: true, value: switched.at(-1) }]);
  });
});

describe("the database of a new tenant", () => {
  const sized = (...sizes: readonly (number | null)[]) =>
    sizes.map((bytes, index) => ({ database: index === 0 ? "DB" : `DB_${index + 1}`, bytes, tenants: 0 }));

  it("is the one with the most room, and the first of those with about as much", () => {
    expect(chooseDatabase(sized(5e9, 2e9, 3e9))).toBe("DB_2");
    expect(chooseDatabase(sized(4e7, 0, 0))).toBe("DB");
  });

  it("is none that did not answer, and the first one when none did", () => {
    expect(chooseDatabase(sized(null, 9e9))).toBe("DB_2");
    expect(chooseDatabase(sized(null, null))).toBe("DB");
    expect(chooseDatabase([])).toBe("DB");
  });
});

it("a database is high from half of what it holds, and critical from 90 %", () => {
  const at = (share: number) => rankSize(share * MAX_DATABASE_BYTES);

  expect([at(0.499), at(0.5), at(0.899), at(0.9), at(1)]).toEqual(["ok", "high", "high", "critical", "critical"]);
});
