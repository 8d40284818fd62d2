import { describe, expect, it } from "vitest";
import { verifyAudit } from "../../scripts/audit/verify";
import type { AuditQuery } from "../../src/app/audit-api";
import { createAuditLog } from "../../src/audit/audit-log";
import type { AuditSubject } from "../../src/contract/audit";
import { createSettings } from "../../src/tenant/settings/settings";
import { toLines } from "../support/audit-lines";
import { createMigratedSql } from "./memory-sql";
import { createTestClock, makeId } from "./support";

const OWNER = makeId("ten", 1);
const ALL: AuditQuery = { after: null, limit: 1_000, order: "asc", action: null, actor: null, target: null, from: null, to: null };
const REFUSED = "the audit log is append-only";

const about = (id: string, action: AuditSubject["action"] = "model.put"): AuditSubject => ({
  action,
  target: { type: "model", id },
  details: {},
});
const by = (id: string | null) => ({ actor: { kind: "key" as const, id }, request_id: "req-1" });

function given(maxEntries?: number) {
  const sql = createMigratedSql();
  createSettings(sql).insert({ tenant: OWNER, name: "Ada", at: 1 });
  const clock = createTestClock();
  const log = createAuditLog({ sql, owner: () => OWNER, now: clock.now, ...(maxEntries && { maxEntries }) });
  return { sql, clock, log };
}

describe("the audit log of a tenant", () => {
  it("is a chain from the tenant's genesis", () => {
    const { log } = given();
    for (const id of ["a", "b", "c"]) log.append(by("key_1"), about(id));

    const { data, anchor, head, has_more } = log.read(ALL);

    expect([data.map(({ seq }) => seq), anchor.seq, head.seq, has_more]).toEqual([[1, 2, 3], 0, 3, false]);
    expect(verifyAudit(toLines(OWNER, anchor, data), head)).toEqual({ ok: true, entries: 3, ...head });
  });

  it("says when a late entry was recorded, and never before the entry that it follows", () => {
    const { log, clock } = given();
    clock.advance(50);
    log.append(by("key_1"), about("a"), 1_000_010);
    clock.advance(-20);
    log.append(by("key_1"), about("b"));

    expect(log.read(ALL).data).toMatchObject([{ at: 1_000_010, recorded_at: 1_000_050 }, { at: 1_000_050 }]);
    expect(log.read(ALL).data[1]).not.toHaveProperty("recorded_at");
  });

  it("has one entry for a nonce, an action and a target, and one for each act without a nonce", () => {
    const { log } = given();
    const act = { ...by("key_1"), nonce: "n" };
    for (const id of ["a", "a", "b"]) log.append(act, about(id));
    log.append(act, about("a", "model.deleted"));
    for (const id of ["a", "a"]) log.append(by("key_1"), about(id));

    expect(log.read(ALL).data.map(({ action, target }) => `${action} ${target.id}`)).toEqual([
      "model.put a",
      "model.put b",
      "model.deleted a",
      "model.put a",
      "model.put a",
    ]);
    expect(JSON.stringify(log.read(ALL).data)).not.toContain("nonce");
  });

  it("that forgets its entries goes on from the last of them", () => {
    const { log } = given();
    for (const id of ["a", "b"]) log.append(by("key_1"), about(id));
    const { head } = log.read(ALL);
    log.forget();
    log.append(by("key_1"), about("c"));
    const after = log.read(ALL);

    expect(after.anchor).toEqual(head);
    expect(verifyAudit(toLines(OWNER, after.anchor, after.data), head)).toMatchObject({ ok: true, entries: 1, seq: 3 });
  });

  it("takes no change, removal or gap from any statement", () => {
    const { sql, log } = given();
    for (const id of ["a", "b"]) log.append(by("key_1"), about(id));

    expect(() => sql.rows("UPDATE audit SET entry = '{}'")).toThrow(REFUSED);
    expect(() => sql.rows("DELETE FROM audit WHERE seq = 2")).toThrow(REFUSED);
    expect(() => sql.rows("INSERT INTO audit (seq, at, action, target, entry, hash) VALUES (4, 1, 'x', 'x', '{}', 'x')")).toThrow(REFUSED);
    expect(() => sql.rows("INSERT INTO audit_anchor (one, seq, hash) VALUES (1, 1, 'x')")).toThrow(REFUSED);
    expect(log.read(ALL).data).toHaveLength(2);
  });

  it("drops the oldest entries when there are too many, and what is left is still verified", () => {
    const { sql, log } = given(5);
    const kept = [];
    for (let n = 1; n <= 23; n++) {
      log.append(by("key_1"), about(`m${n}`));
      kept.push(log.read(ALL).head);
    }

    const { data, anchor, head } = log.read(ALL);

    expect([data.length, anchor]).toEqual([5, kept[17]]);
    expect(verifyAudit(toLines(OWNER, anchor, data), head)).toMatchObject({ ok: true, entries: 5 });
    expect(log.findPlace(2)).toEqual(anchor);
    expect(log.findPlace(20)).toEqual(kept[19]);
    expect(log.findPlace(24)).toBeNull();
    expect(() => sql.rows("UPDATE audit_anchor SET seq = 1")).toThrow(REFUSED);
    expect(() => sql.rows("DELETE FROM audit_anchor")).toThrow(REFUSED);
  });

  it("rolls back with the act", () => {
    const { sql, log } = given();
    log.append(by("key_1"), about("a"));
    const failing = () =>
      sql.transaction(() => {
        log.append(by("key_1"), about("b"));
        throw new Error("disk full");
      });

    expect(failing).toThrow("disk full");
    log.append(by("key_1"), about("c"));

    expect(log.read(ALL).data.map(({ seq, target }) => [seq, target.id])).toEqual([
      [1, "a"],
      [2, "c"],
    ]);
  });

  it("never goes back in time, when the clock does", () => {
    const { log, clock } = given();
    log.append(by("key_1"), about("a"));
    clock.advance(-500);
    log.append(by("key_1"), about("b"));
    clock.advance(1_000);
    log.append(by("key_1"), about("c"));

    expect(log.read(ALL).data.map(({ at }) => at)).toEqual([1_000_000, 1_000_000, 1_000_500]);
  });

  it("finds entries by action, actor, target and time, in pages of either order", () => {
    const { log, clock } = given();
    const acts = [
      ["key_1", "a", "model.put"],
      ["key_2", "a", "model.deleted"],
      ["key_1", "b", "model.put"],
      [null, "b", "model.deleted"],
    ] as const;
    for (const [key, id, action] of acts) {
      log.append(by(key), about(id, action));
      clock.advance(10);
    }
    const seqs = (query: Partial<AuditQuery>) => log.read({ ...ALL, ...query }).data.map(({ seq }) => seq);

    expect(seqs({ action: "model.put" })).toEqual([1, 3]);
    expect(seqs({ actor: "key_1", target: "b" })).toEqual([3]);
    expect(seqs({ from: 1_000_010, to: 1_000_030 })).toEqual([2, 3]);
    expect(seqs({ order: "desc", limit: 2 })).toEqual([4, 3]);
    expect(seqs({ order: "desc", after: 3 })).toEqual([2, 1]);
    expect(log.read({ ...ALL, limit: 3 }).has_more).toBe(true);
    expect(log.read({ ...ALL, limit: 3, after: 1 }).has_more).toBe(false);
  });
});
