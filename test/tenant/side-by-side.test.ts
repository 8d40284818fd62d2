/** The parts of the tenant's alarm: none holds up another, and an export of one end user wakes that one's sessions. */
import { describe, expect, it } from "vitest";
import type { ExportStore } from "../../src/app/export-api";
import type { SessionId } from "../../src/domain/ids";
import { err, ok } from "../../src/lib/result";
import { createCountedSql } from "../support/counted-sql";
import { findUnbounded } from "../support/query-plan";
import { type MemorySessions, NO_SESSIONS, newMemoryTenant } from "./memory-tenant";
import { makeId } from "./support";

const EXPORT = makeId("exp", 1);
/** Pages that one alarm reads (`src/tenant/transfer/exports.ts`). */
const AN_ALARM = 25;
const STORES = ["session", "read_model", "files", "exports", "chat"] as const;
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** What of the tenant's work is waited for. */
type Part = "export" | "erasure" | "read model" | "usage" | "chat" | "webhook";

function world(sessions: number, ownerOf: (n: number) => string | null = () => null) {
  const done = new Set<Part>();
  const read: SessionId[] = [];
  const hanging: { part: Part | null; atPage: number } = { part: null, atPage: 1 };
  const reach = async <T>(part: Part, value: T): Promise<T> => {
    if (hanging.part === part && (part !== "export" || read.length >= hanging.atPage)) await new Promise(() => {});
    done.add(part);
    return value;
  };
  const owners = new Map<string, string | null>();
  const objects: MemorySessions = (caller) => ({
    ...NO_SESSIONS(caller),
    erase: async () =>
      reach(
        "erasure",
        ok({ id: caller.session, erased_at: 1, stores: STORES.map((store) => ({ store, status: "erased" as const, rows: null })) }),
      ),
    exportLines: async ({ session }) => {
      read.push(session);
      if (!owners.has(session)) return err({ code: "session_not_found" });
      const line = { type: "session", id: session, created_at: 1, external_id: null, end_user: null, seq: 1 };
      const lines = [{ text: JSON.stringify(line), place: { kind: "event", seq: 0 } as const }];
      return reach("export", ok({ seq: 1, end_user: owners.get(session) ?? null, lines, done: true }));
    },
  });
  const store: ExportStore = {
    begin: async () => "upload",
    putPart: async (_, { number }) => ({ number, etag: `etag-${number}` }),
    finish: async () => {},
    open: async () => null,
    remove: async () => {},
    readFile: async () => null,
    readRange: async () => null,
  };
  const counted = createCountedSql();
  const tenant = newMemoryTenant(1, {
    sql: counted.sql,
    sessions: objects,
    exportStore: () => store,
    projection: { write: () => reach("read model", undefined), writeUsage: () => reach("usage", undefined) },
    chats: () => ({ forgetSession: async () => {}, empty: () => reach("chat", undefined) }),
    sendWebhook: () => reach("webhook", { status: 200, failure: null, answer: "" }),
  });
  for (let n = 1; n <= sessions; n++) {
    const owner = ownerOf(n);
    owners.set(makeId("ses", n), owner);
    tenant.transaction(() =>
      tenant.directory.register({
        session: makeId("ses", n),
        idempotency: null,
        at: n,
        end_user: owner === null ? null : tenant.digestEndUser(owner),
      }),
    );
  }
  const endpoint = (): void => {
    const said = { url: "https://example.com/hook", events: null, description: null, metadata: {} };
    const sealed = { kid: "k", wrapped_key: "w", sealed: "s" };
    tenant.transaction(() =>
      tenant.upkeep.webhooks.endpoints.add({ ...said, id: makeId("whk", 1), sealed, idempotency: null }, Date.now()),
    );
  };
  const announce = (n: number): void =>
    tenant.transaction(() => {
      const announcement = { seq: 1, at: 1, type: "turn.completed" as const, data: { id: makeId("trn", n) } };
      tenant.upkeep.webhooks.addOfSession(makeId("ses", n), [announcement], [makeId("evt", n)]);
    });
  return { tenant, counted, done, read, hanging, endpoint, announce, owners };
}

describe("while an export of a large tenant is under way", () => {
  it.each([1, AN_ALARM - 1, 300])("and waits for page %i, an announcement and an event of the tenant are delivered", async (atPage) => {
    const { tenant, done, hanging, endpoint, announce } = world(400);
    endpoint();
    await tenant.upkeep.exports.begin({ id: EXPORT, subject: { of: "tenant" } }, () => {});
    for (let alarms = 0; alarms < Math.floor(atPage / AN_ALARM); alarms++) await tenant.upkeep.ring();
    Object.assign(hanging, { part: "export", atPage });
    void tenant.upkeep.ring();
    await settle();
    expect(done.has("webhook")).toBe(false);

    announce(1);
    tenant.upkeep.webhooks.start();
    await settle();
    expect([...done].filter((part) => part === "webhook")).toHaveLength(1);
    done.delete("webhook");

    tenant.transaction(() => tenant.events.append({ at: 1, type: "export.completed", data: { id: EXPORT } }));
    await settle();
    expect(done.has("webhook")).toBe(true);
  });

  it.each([300, 3_000])(
    "of %i sessions, each alarm reads as many pages, and what has come due goes with the next alarm",
    async (sessions) => {
      const { tenant, done, read, endpoint, announce } = world(sessions);
      endpoint();
      await tenant.upkeep.exports.begin({ id: EXPORT, subject: { of: "tenant" } }, () => {});
      for (let alarms = 1; alarms <= 10; alarms++) {
        const before = read.length;
        done.clear();
        announce(alarms);
        await tenant.upkeep.ring();
        await settle();

        expect(read.length - before).toBeLessThanOrEqual(AN_ALARM);
        expect(done.has("webhook")).toBe(true);
      }
      expect(read.length).toBeGreaterThan(50);
    },
  );
});

describe("a part of the alarm that waits for", () => {
  const PARTS: readonly Part[] = ["export", "erasure", "read model", "usage", "chat", "webhook"];

  it.each(PARTS)("the %s holds up no other", async (part) => {
    const { tenant, counted, done, hanging, endpoint, announce } = world(5);
    const { upkeep } = tenant;
    endpoint();
    await upkeep.exports.begin({ id: EXPORT, subject: { of: "tenant" } }, () => {});
    tenant.transaction(() => {
      upkeep.erasures.begin({ session: makeId("ses", 1), isKnown: true });
      upkeep.outbox.touch();
      const sums = { calls: 1, failed: 0, input: 1, uncached: 1, cached: 0, cache_write: 0, output: 1, reasoning: 0, cost: 1, unpriced: 0 };
      upkeep.usageOutbox.add(makeId("ses", 99), [{ at: 0, model: "m", purpose: "turn", key_id: "", end_user: "", ...sums }]);
      upkeep.chats.note(makeId("ses", 2), { channel: "c", conversation: "1" });
      upkeep.chats.leave("c");
    });
    counted.sql.rows("UPDATE erasures SET due_at = 0");
    announce(3);
    hanging.part = part;
    done.clear();

    void upkeep.ring();
    for (let turns = 0; turns < 5; turns++) await settle();

    expect([...done].toSorted()).toEqual(PARTS.filter((each) => each !== part).toSorted());
  });
});

describe("an export of one end user", () => {
  it.each([
    ["none of the others", 0],
    ["and those of whom only their objects know", 7],
  ])("wakes the end user's sessions, %s", async (_name, unknown) => {
    const { tenant, read, owners } = world(1_000, (n) => `user-${n % 10}`);
    const mine = Array.from({ length: 100 }, (_, n) => makeId("ses", (n + 1) * 10));
    // Some were given to others since, or came from others.
    const given = Array.from({ length: unknown }, (_, n) => makeId("ses", n * 10 + 3));
    tenant.transaction(() => {
      for (const session of given) tenant.directory.give({ session, end_user: tenant.digestEndUser("user-0") });
    });
    const [moved] = given;
    if (moved) owners.set(moved, "user-0");

    await tenant.upkeep.exports.begin({ id: EXPORT, subject: { of: "end_user", end_user: "user-0" } }, () => {});
    const begun = tenant.upkeep.exports.get(EXPORT);
    for (let alarms = 0; alarms < 200 && tenant.upkeep.exports.nextDue() !== null && !isReady(); alarms++) await tenant.upkeep.ring();

    const found = new Set(read);
    expect([...found].toSorted()).toEqual([...mine, ...given].toSorted());
    expect(begun).toMatchObject({ ok: true, value: { sessions_total: mine.length + given.length } });
    expect(tenant.upkeep.exports.get(EXPORT)).toMatchObject({
      ok: true,
      value: { status: "ready", sessions_done: mine.length + given.length },
    });

    function isReady(): boolean {
      const state = tenant.upkeep.exports.get(EXPORT);
      return state.ok && state.value.status === "ready";
    }
  });

  it("finds the next one by an index, however many others there are", () => {
    const { tenant, counted } = world(1);
    counted.take();
    tenant.directory.findOfUser({ endUser: "one", before: null });
    tenant.directory.countOfUser("one");
    const steps = [...counted.seen].flatMap((statement) => findUnbounded(counted.explain(statement), { passing: ["(subquery-4)"] }));

    // Of those that only their objects know, each has one of these indexes.
    expect(steps.filter((step) => !/USING COVERING INDEX sessions_un(labelled|opened)/.test(step))).toEqual([]);
    expect(counted.seen.size).toBe(2);
  });
});
