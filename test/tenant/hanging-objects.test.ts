/** Objects that never answer the tenant's: its alarm ends all the same, and what it asked of them is done once they answer. */
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { ExportStore } from "../../src/app/export-api";
import { NO_RETENTION, RETENTION_STARTS_AFTER_MS } from "../../src/app/retention";
import type { Schedule } from "../../src/app/session-ports";
import type { SessionId } from "../../src/domain/ids";
import { err, ok } from "../../src/lib/result";
import { description } from "../http/support";
import { ACT, type MemorySessions, NO_SESSIONS, newMemoryTenant } from "./memory-tenant";
import { makeId } from "./support";

const START = 1_780_000_000_000;
const DAY = 86_400_000;
const EXPORT = makeId("exp", 1);
const [ANNS, BOBS, FAULTY, KEPT] = [1, 2, 3, 4].map((n) => makeId("ses", n)) as [SessionId, SessionId, SessionId, SessionId];
const STORES = ["session", "read_model", "files", "exports", "chat"] as const;

beforeEach(() => void vi.useFakeTimers({ now: START, toFake: ["Date"] }));
afterEach(() => void vi.useRealTimers());

/** The time of a call is over as soon as nothing else happens: these objects answer at once, or never. */
const hurry: Schedule = (_, work) => {
  const immediate = setImmediate(work);
  return () => clearImmediate(immediate);
};

const STORE: ExportStore = {
  begin: async () => "upload",
  putPart: async (_, { number }) => ({ number, etag: `etag-${number}` }),
  finish: async () => {},
  open: async () => null,
  remove: async () => {},
  readFile: async () => null,
  readRange: async () => null,
};

/** Session objects that know whose they are. What `hangs` names never answers. */
function createObjects(gate: { hangs: string | null }) {
  const done = new Set<string>();
  const reach = async <T>(name: string, session: SessionId, answer: T): Promise<T> => {
    if (gate.hangs === name) await new Promise(() => {});
    done.add(`${name} ${session}`);
    return answer;
  };
  let former: readonly string[] = ["ann"];
  const sessions: MemorySessions = (caller) => {
    const { session } = caller;
    return {
      ...NO_SESSIONS(caller),
      erase: () =>
        reach(
          "erase",
          session,
          ok({ id: session, erased_at: 1, stores: STORES.map((store) => ({ store, status: "erased" as const, rows: null })) }),
        ),
      describe: () => reach("describe", session, ok(description({ id: session, end_user: session === ANNS ? "ann" : "bob" }))),
      formerEndUsers: () => reach("formerEndUsers", session, ok(session === BOBS ? former : [])),
      forgetEndUsers: async (_, names) => {
        const answer = await reach("forgetEndUsers", session, ok(true));
        former = former.filter((name) => !names.includes(name));
        return answer;
      },
      exportLines: () => reach("exportLines", session, err({ code: "session_not_found" })),
      retain: () => reach("retain", session, ok({ used_at: START, due: [], look_at: Date.now() + DAY, results_until: null })),
    };
  };
  const forgetSession = (_: unknown, session: SessionId): Promise<void> => reach("chat", session, undefined);
  const projection = { hide: () => reach("hide", FAULTY, undefined) };
  return { done, sessions, projection, chats: () => ({ forgetSession, empty: async () => {} }) };
}

function world(hangs: string) {
  const gate: { hangs: string | null } = { hangs };
  const alarm: { at: number | null } = { at: null };
  const { done, ...objects } = createObjects(gate);
  const tenant = newMemoryTenant(1, { ...objects, exportStore: () => STORE, schedule: hurry, alarm });
  const { upkeep } = tenant;
  tenant.transaction(() => {
    for (const session of [ANNS, BOBS, FAULTY, KEPT]) tenant.directory.register({ session, idempotency: null, at: START - 40 * DAY });
    for (const session of [ANNS, BOBS]) tenant.directory.give({ session, end_user: null });
    upkeep.chats.note(FAULTY, { channel: "c", conversation: "1" });
    upkeep.retention.write({ ...NO_RETENTION, erase_sessions_after_days: 30 });
  });
  vi.setSystemTime(START + RETENTION_STARTS_AFTER_MS);
  const begin = async (): Promise<void> => {
    await upkeep.exports.begin({ id: EXPORT, subject: { of: "tenant" } }, () => {});
    tenant.transaction(() => {
      upkeep.erasures.begin({ session: FAULTY, isKnown: true, act: ACT });
      upkeep.erasures.beginEndUser(tenant.digestEndUser("ann"), ACT);
    });
  };
  /** Rings the alarm when it is due. */
  async function ring(): Promise<void> {
    vi.setSystemTime(Math.max(Date.now(), alarm.at ?? 0));
    alarm.at = null;
    await upkeep.ring();
  }
  /** What is left to do. */
  function listLeft(): string[] {
    const erasing = upkeep.erasures.receipts.list({ after: null, limit: 10, order: "asc" }).data.filter(({ done_at }) => done_at === null);
    const made = upkeep.exports.get(EXPORT);
    const isMade = made.ok && made.value.status === "ready";
    return [
      ...erasing.map((erasure) => `erasure of a ${erasure.of}`),
      ...(isMade ? [] : ["export"]),
      ...(done.has(`retain ${KEPT}`) ? [] : ["retention"]),
    ];
  }
  return { gate, alarm, begin, ring, listLeft };
}

const WAITING: readonly (readonly [call: string, left: readonly string[]])[] = [
  ["erase", ["erasure of a session", "erasure of a end_user"]],
  ["describe", ["erasure of a end_user"]],
  ["formerEndUsers", ["erasure of a end_user"]],
  ["forgetEndUsers", ["erasure of a end_user"]],
  ["chat", ["erasure of a session"]],
  ["hide", []],
  ["exportLines", ["export"]],
  ["retain", ["retention"]],
];

test.each(WAITING)("an alarm whose %s hangs ends, does all the rest, and does it when the object answers", async (call, left) => {
  const { gate, alarm, begin, ring, listLeft } = world(call);
  await begin();

  for (let alarms = 0; alarms < 5; alarms++) await ring();
  expect(listLeft()).toEqual(left);
  expect(alarm.at).not.toBeNull();

  gate.hangs = null;
  for (let alarms = 0; alarms < 20 && listLeft().length > 0; alarms++) await ring();
  expect(listLeft()).toEqual([]);
});
