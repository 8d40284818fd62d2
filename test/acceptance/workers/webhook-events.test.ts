/** Each type of event that an endpoint can choose, from what causes it to a receiver that verifies it with both official packages. */
import { abortAllDurableObjects } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { tenantObjectName } from "../../../src/app/object-name";
import type { CompactionView } from "../../../src/contract/compaction";
import type { ExportView } from "../../../src/contract/export";
import { NO_LIMITS } from "../../../src/contract/limits";
import type { ScheduleView } from "../../../src/contract/schedule";
import { WEBHOOK_EVENT_TYPES, type WebhookEventType } from "../../../src/domain/webhook-events";
import { daily } from "../../support/daily-budget";
import { ringNow } from "../../workers/alarms";
import { advanceClock, restoreClock } from "../../workers/clock";
import { GUARD_ONLY, smallChat, TURNS, talk, WINDOW, words } from "../../workers/conversation";
import { type Chat, type ChatInput, migrate, newChat, newTenant, readBody, type Tenant } from "../../workers/support";
import { newHook, ringTenant, verify } from "../../workers/webhooks";

beforeAll(migrate);
afterEach(() => {
  vi.restoreAllMocks();
  restoreClock();
});

const HOUR = 3_600_000;
const LOOK = { name: "look", parameters: { type: "object" } };
const PAY = { name: "pay", parameters: { type: "object" }, runs: { by: "http", tool: "pay" }, needs_approval: true } as const;
const calling = (name: string) => ({ tool_calls: [{ id: "call_1", name, arguments: "{}" }] });
const BROKEN = { status: 503, error: { message: "overloaded" } };

/** Causes the event. Returns the id that its `data` has, where the cause has one. */
type Cause = (tenant: Tenant) => Promise<string | null>;

async function awaitTools(tenant: Tenant): Promise<{ readonly chat: Chat; readonly turn: string }> {
  const chat = await newChat({ tenant, tools: [LOOK], replies: [calling("look")] });
  return { chat, turn: (await chat.say("Look.")).id };
}

async function compact(tenant: Tenant, summaries: ChatInput["summaries"]): Promise<string> {
  const { chat, frames } = await smallChat({ tenant, summaries: summaries ?? [] });
  await talk(chat, 1, TURNS);
  const { compaction_id } = await frames.until("compaction.completed");
  await frames.leave();
  return compaction_id;
}

let revision = 0;
/** One turn against a budget that it exceeds. */
async function spend(tenant: Tenant): Promise<string> {
  const chat = await newChat({ tenant, replies: [{ text: words(300, "costly") }] });
  const stub = env.TENANTS.getByName(tenantObjectName(tenant.id));
  await stub.setLimits({ limits: NO_LIMITS, revision: ++revision, budgets: [daily(12_000)] });
  for (let turn = 0, status = 200; turn < 100 && status === 200; turn++) status = (await chat.send(words(200, `question-${turn}`))).status;
  advanceClock(120_000);
  await ringNow(chat.stub);
  return "daily";
}

/** `wait`: between two alarms. */
async function makeExport(tenant: Tenant, wait = 0): Promise<ExportView> {
  const { id } = await readBody<ExportView>(await tenant.call("POST", "/v1/exports", { of: "tenant" }), 202);
  for (;;) {
    const found = await readBody<ExportView>(await tenant.call("GET", `/v1/exports/${id}`));
    if (found.status !== "running") return found;
    advanceClock(wait);
    await ringTenant(tenant);
  }
}

async function importStored(tenant: Tenant, made: ExportView): Promise<string> {
  const begun = await readBody<{ id: string }>(await tenant.call("POST", "/v1/imports/background", { export_id: made.id }), 202);
  for (let status = "running"; status === "running"; ) {
    await ringTenant(tenant);
    ({ status } = await readBody<{ status: string }>(await tenant.call("GET", `/v1/imports/${begun.id}`)));
  }
  return begun.id;
}

async function erase(tenant: Tenant): Promise<Chat> {
  const chat = await newChat({ tenant });
  await readBody(await chat.call("DELETE"));
  return chat;
}

const CAUSES: Readonly<Record<WebhookEventType, Cause>> = {
  "session.created": async (tenant) => (await newChat({ tenant })).id,
  "turn.completed": async (tenant) => (await (await newChat({ tenant })).say("Hello")).id,
  "turn.failed": async (tenant) => {
    const chat = await newChat({ tenant, replies: [{ status: 402, error: { message: "no credit" } }] });
    return (await chat.say("Hello")).id;
  },
  "turn.stopped": async (tenant) => {
    const { chat, turn } = await awaitTools(tenant);
    await readBody(await chat.call("POST", "/stop"));
    return turn;
  },
  "turn.interrupted": async (tenant) => {
    const chat = await newChat({ tenant, replies: [{ deltas: ["Half of it. ", { gate: "never" }] }] });
    const frames = await chat.hear("Hello");
    const { turn_id } = await frames.until("text.delta");
    await abortAllDurableObjects();
    await frames.leave();
    await chat.ended(turn_id);
    return turn_id;
  },
  "turn.awaiting_tools": async (tenant) => (await awaitTools(tenant)).turn,
  "turn.awaiting_approval": async (tenant) => {
    const chat = await newChat({ tenant, replies: [calling("pay")] });
    await chat.api.patch(chat.caller, { tools: [PAY] });
    return (await chat.say("Pay.")).id;
  },
  "compaction.completed": (tenant) => compact(tenant, [{ text: words(60, "SUMMARY") }]),
  "compaction.failed": (tenant) => compact(tenant, [BROKEN, BROKEN]),
  "compaction.drafted": async (tenant) => {
    const chat = await newChat({ tenant, window: 32_000, summaries: [{ text: words(60, "SUMMARY") }] });
    await talk(chat, 1, TURNS);
    const body = { draft: true, keep_recent: 500 };
    return (await readBody<CompactionView>(await chat.call("POST", "/compactions", body), 202)).id;
  },
  "history.trimmed": async (tenant) => {
    const chat = await newChat({ tenant, window: WINDOW, maxOutput: 100, policy: GUARD_ONLY });
    for (let n = 1; n <= 12; n++) await chat.append(words(600, `note-${n}`), n % 2 ? "user" : "assistant");
    await chat.say("and now?");
    return null;
  },
  "schedule.skipped": async (tenant) => {
    const { chat } = await awaitTools(tenant);
    await readBody(await chat.call("PUT", "/schedules/briefing", { at: Date.now() + HOUR, message: "Now." }));
    advanceClock(HOUR);
    for (let skipped: string | null | undefined = null; !skipped; ) {
      await ringNow(chat.stub);
      advanceClock(61_000);
      skipped = (await readBody<ScheduleView>(await chat.call("GET", "/schedules/briefing"))).last_run?.skipped;
    }
    return "briefing";
  },
  "budget.threshold": spend,
  "budget.reached": spend,
  "session.erased": async (tenant) => (await erase(tenant)).id,
  "erasure.completed": async (tenant) => {
    await erase(tenant);
    return null;
  },
  "export.completed": async (tenant) => (await makeExport(tenant)).id,
  "export.failed": async (tenant) => {
    if (!env.FILES) throw new Error("no bucket");
    vi.spyOn(env.FILES, "createMultipartUpload").mockRejectedValue(new Error("away"));
    return (await makeExport(tenant, 6 * HOUR)).id;
  },
  "import.completed": async (tenant) => importStored(tenant, await makeExport(tenant)),
  "import.failed": async (tenant) => {
    const made = await makeExport(tenant);
    const stored = await env.FILES?.list({ prefix: `${tenant.id}/` });
    for (const { key } of stored?.objects ?? []) await env.FILES?.put(key, "x".repeat(made.bytes));
    return importStored(tenant, made);
  },
  "webhook_endpoint.disabled": async (tenant) => {
    const hook = await newHook(tenant, { events: ["session.created"] });
    await hook.receiver.answers({ status: 410 });
    await newChat({ tenant });
    await hook.settled("failed");
    return hook.id;
  },
};

describe("an event of the type", () => {
  it.each(WEBHOOK_EVENT_TYPES)("%s reaches an endpoint that chose it once, signed, with the id of what it is about", async (type) => {
    const tenant = await newTenant();
    const hook = await newHook(tenant, { events: [type] });
    const id = await CAUSES[type](tenant);
    const isDone = async (): Promise<boolean> => {
      const deliveries = await hook.deliveries();
      return deliveries.length > 0 && deliveries.every(({ state }) => state === "delivered");
    };
    while (!(await isDone())) await ringTenant(tenant);

    const received = await hook.receiver.received();
    const events = await Promise.all(received.map((each) => verify(each, hook.secret)));
    for (const event of events) expect(event).toMatchObject({ object: "event", type, data: { seq: expect.any(Number) } });
    if (id !== null) expect(events[0]?.data.id).toBe(id);
    expect(new Set(events.map((event) => event.id)).size).toBe(received.length);
    // A budget has three thresholds.
    if (type !== "budget.threshold") expect(received).toHaveLength(1);
  });
});
