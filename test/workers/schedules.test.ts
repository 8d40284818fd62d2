/** Schedules end to end: set over HTTP, run by the session object's own alarm, also after the object was lost. */
import { abortAllDurableObjects } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { sessionObjectName } from "../../src/app/object-name";
import type { ScheduleView } from "../../src/contract/schedule";
import { ringNow } from "./alarms";
import { advanceClock, restoreClock } from "./clock";
import { type Chat, migrate, newChat, readBody } from "./support";

const HOUR = 3_600_000;

beforeAll(migrate);
afterEach(restoreClock);

const stub = ({ tenant, id }: Chat) => env.SESSIONS.getByName(sessionObjectName(tenant.id, id));
const put = (chat: Chat, name: string, body: object, headers = {}) => chat.call("PUT", `/schedules/${name}`, body, headers);
const read = async (chat: Chat, name: string) => readBody<ScheduleView>(await chat.call("GET", `/schedules/${name}`));

/** The alarm starts the run and does not await it. Null: it has not run. */
async function readRun(chat: Chat, name: string): Promise<ScheduleView | null> {
  const schedule = await read(chat, name);
  return schedule.last_run ? schedule : null;
}

describe("a schedule", () => {
  it("submits its message by the alarm, once for all times that passed, and says how that went", async () => {
    const chat = await newChat();
    const set = await readBody<ScheduleView>(await put(chat, "briefing", { cron: "0 * * * *", message: "What is new?" }));
    expect(set).toMatchObject({ cron: "0 * * * *", timezone: "UTC", last_run: null });

    advanceClock(5 * HOUR);
    await abortAllDurableObjects();
    await ringNow(stub(chat));
    const { last_run, next_at } = await vi.waitUntil(() => readRun(chat, "briefing"), { timeout: 20_000 });
    if (!last_run?.turn_id) throw new Error("no turn");
    const turn = await chat.api.waitForTurn(chat.caller, last_run.turn_id);
    await ringNow(stub(chat));

    expect(turn).toMatchObject({ ok: true, value: { status: "completed" } });
    expect(last_run).toMatchObject({ due_at: set.next_at, skipped: null });
    expect(next_at).toBeGreaterThan(last_run?.at ?? Number.POSITIVE_INFINITY);
    const { data } = await readBody<{ data: readonly { role: string }[] }>(await chat.call("GET", "/messages"));
    expect(data.map(({ role }) => role)).toEqual(["user", "assistant"]);
  });

  it("is compared by what was set: a PUT under the etag of a GET succeeds after a run, and one under an older etag is refused", async () => {
    const chat = await newChat();
    const first = await put(chat, "briefing", { cron: "0 * * * *", message: "What is new?" });
    const etag = first.headers.get("etag") ?? "";
    advanceClock(HOUR);
    await ringNow(stub(chat));
    await vi.waitUntil(() => readRun(chat, "briefing"), { timeout: 20_000 });

    expect((await put(chat, "briefing", { cron: "5 * * * *", message: "What is new?" }, { "If-Match": etag })).status).toBe(200);
    expect((await put(chat, "briefing", { cron: "9 * * * *", message: "What is new?" }, { "If-Match": etag })).status).toBe(412);
  });

  it("is removed once, and does not run then", async () => {
    const chat = await newChat();
    await put(chat, "briefing", { at: Date.now() + HOUR, message: "Now." });
    expect((await chat.call("DELETE", "/schedules/briefing")).status).toBe(204);
    expect((await chat.call("DELETE", "/schedules/briefing")).status).toBe(404);
    advanceClock(2 * HOUR);
    await ringNow(stub(chat));

    expect((await readBody<{ data: unknown[] }>(await chat.call("GET", "/messages"))).data).toEqual([]);
  });

  it("is refused when as many will run as may", async () => {
    const chat = await newChat();
    const set = (n: number) => put(chat, `reminder-${n}`, { at: Date.now() + HOUR, message: "Now." });
    for (let n = 0; n < 16; n++) expect((await set(n)).status).toBe(200);
    expect(await readBody(await set(16), 409)).toMatchObject({ type: "urn:longhand:problem:schedule_limit", limit: 16 });
  });
});
