/** Manual changes of the view, end to end: the API, the object, the queue and the rows in D1. */
import { env } from "cloudflare:workers";
import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import type { Plan } from "../../../src/context/plan";
import type { CompactionView } from "../../../src/contract/compaction";
import type { ContextReport } from "../../../src/contract/context";
import type { Page } from "../../../src/contract/page";
import type { SessionDescription } from "../../../src/contract/session";
import { deliver, holdQueue, words } from "../../workers/conversation";
import { type Chat, migrate, newChat, newTenant, readBody, request } from "../../workers/support";

beforeAll(migrate);
afterEach(() => vi.restoreAllMocks());

const SUMMARY = { text: words(60, "SUMMARY") };

/** Five turns in a window that they do not fill. */
async function talked(input: Parameters<typeof newChat>[0] = {}): Promise<Chat> {
  const chat = await newChat({ window: 32_000, system: "Be brief.", summaries: [SUMMARY], ...input });
  for (let turn = 1; turn <= 5; turn++) {
    await chat.model.says({ text: words(200, `reply-${turn}`) });
    await chat.say(words(150, `question-${turn}`));
  }
  return chat;
}

const compactions = async (chat: Chat) => (await chat.read<Page<CompactionView>>("/compactions")).data;
const nextRequest = async (chat: Chat) => (await chat.read<ContextReport>("/context")).request.body;

/** A manual compaction, run to its end. */
async function compacted(chat: Chat, body: object = { keep_recent: 500 }): Promise<CompactionView> {
  const frames = await chat.listen(0);
  const asked = await readBody<CompactionView>(await chat.call("POST", "/compactions", body), 202);
  await frames.until("compaction.completed", (frame) => frame.compaction_id === asked.id);
  await frames.leave();
  return chat.read(`/compactions/${asked.id}`);
}

describe("a compaction by hand", () => {
  it("is planned by a dry run, asked for, done by the queue, and shown with its receipt", async () => {
    const chat = await talked();
    const plan = await readBody<Plan>(await chat.call("POST", "/compactions", { dry_run: true, keep_recent: 500 }));
    expect(await compactions(chat)).toEqual([]);

    const done = await compacted(chat, { keep_recent: 500, instructions: "Keep the horses." });

    const [rung] = plan.kind === "compact" ? plan.rungs : [];
    expect(done).toMatchObject({
      status: "completed",
      trigger: "manual",
      did_compact: true,
      keep_recent: 500,
      instructions: "Keep the horses.",
      range: rung?.rung === "summarize" ? rung.range : null,
      summary: SUMMARY.text,
      receipt: { tokens_before: { source: "reported", error_bound: 0 }, tokens_after: { source: "mixed" } },
    });
    expect(done.receipt?.tokens_after.error_bound).toBeGreaterThan(0);
    const asked = (await chat.model.heard()).find((entry) => entry.kind === "compaction");
    expect(JSON.stringify(asked?.body.messages)).toContain("Keep the horses.");
  });

  it.each([
    ["nothing where the summary stands before the system prompt", "system-prefix", false],
    ["the system prompt where it stands behind that", "system-message", true],
  ] as const)("shows what the provider's cache made of it beside what was expected: %s", async (_, placement, keeps) => {
    const chat = await talked({ policy: { preset: "oneclaw", recall: "off", summary: { placement } } });
    const { id } = await compacted(chat);

    const turn = await chat.say("and now?");

    const { cache } = await chat.read<CompactionView>(`/compactions/${id}`);
    expect(cache).toMatchObject({ first_call: { input: turn.usage?.input, cached: turn.usage?.cached } });
    expect((cache?.expected ?? 0) > 0).toBe(keeps);
  });

  it("asked for while a turn runs begins when that has ended", async () => {
    const queue = holdQueue();
    const chat = await talked();
    await chat.model.says({ gate: "turn", text: "here" });
    const { turn_id } = await chat.post("still there?");
    const asked = await readBody<CompactionView>(await chat.call("POST", "/compactions", { keep_recent: 500 }), 202);
    await chat.model.open("turn");
    await chat.ended(turn_id);

    const job = await queue.next();
    await deliver(job);

    expect(job.compaction).toBe(asked.id);
    expect(await chat.read<CompactionView>(`/compactions/${asked.id}`)).toMatchObject({ status: "completed", did_compact: true });
  });

  it("with one key is one, however often it is sent", async () => {
    const chat = await talked();
    const headers = { "idempotency-key": "once" };
    const send = () => chat.call("POST", "/compactions", { keep_recent: 500 }, headers);

    const answers = await Promise.all([send(), send()]);
    const [first, second] = await Promise.all(answers.map((answer) => readBody<CompactionView>(answer, 202)));

    expect(second?.id).toBe(first?.id);
    expect(await compactions(chat)).toHaveLength(1);
    expect(answers.map((answer) => answer.headers.get("idempotent-replayed")).sort()).toEqual(["true", null].sort());
  });

  it("that is under way refuses another", async () => {
    const queue = holdQueue();
    const chat = await talked();
    const asked = await readBody<CompactionView>(await chat.call("POST", "/compactions", { keep_recent: 500 }), 202);
    await queue.next();

    const second = await readBody(await chat.call("POST", "/compactions", { keep_recent: 500 }), 409);

    expect(second).toMatchObject({ type: "urn:longhand:problem:compaction_running", compaction_id: asked.id });
  });

  it("of a conversation that is short says that there is nothing to do", async () => {
    const chat = await newChat();
    await chat.say("hello");

    expect(await readBody(await chat.call("POST", "/compactions", {}))).toMatchObject({ kind: "none", reason: "nothing_older" });
  });
});

const readRows = async (chat: Chat) =>
  (
    await env.DB.prepare("SELECT id, status FROM compactions WHERE tenant_id = ?1 AND session_id = ?2 ORDER BY requested_at, epoch")
      .bind(chat.tenant.id, chat.id)
      .all<{ id: string; status: string }>()
  ).results;

const rebuild = async (chat: Chat) =>
  readBody(await request("POST", `/v1/admin/tenants/${chat.tenant.id}/sessions/${chat.id}/rebuild`, { key: env.ADMIN_KEY }));

describe("a revert", () => {
  it("sends byte for byte what was sent before, and says so in the rows too", async () => {
    const chat = await talked();
    const before = await nextRequest(chat);
    const { id } = await compacted(chat);
    expect(await nextRequest(chat)).not.toBe(before);

    const reverted = await readBody<CompactionView>(await chat.call("POST", `/compactions/${id}/revert`));

    expect(await nextRequest(chat)).toBe(before);
    expect(reverted).toMatchObject({ id, status: "reverted" });
    expect((await compactions(chat)).map(({ status }) => status)).toEqual(["reverted", "completed"]);
    expect(await chat.describe()).toMatchObject({ compacted_summary: null, compact_boundary_timestamp: null });
    await vi.waitFor(async () => {
      expect(await readRows(chat)).toEqual([
        { id, status: "reverted" },
        { id: reverted.reverted?.by, status: "completed" },
      ]);
    });
    expect(await rebuild(chat)).toMatchObject({ differences: [] });
  });

  it("is of the newest only", async () => {
    const chat = await talked({ summaries: [SUMMARY, { text: words(40, "SECOND") }] });
    const first = await compacted(chat);
    const second = await compacted(chat, { keep_recent: 100 });

    const refused = await readBody(await chat.call("POST", `/compactions/${first.id}/revert`), 409);

    expect(refused).toMatchObject({ type: "urn:longhand:problem:not_newest", newest_compaction_id: second.id });
  });

  it("that would not fit a smaller model is refused with both figures", async () => {
    const chat = await talked();
    const { id } = await compacted(chat);
    await readBody(await chat.tenant.call("PUT", "/v1/models/small", { provider: "embedded", context_window: 1_024, max_output: 100 }));
    await readBody(await chat.call("PATCH", "", { model: "small" }));

    const refused = await readBody<{ tokens: number; limit: number }>(await chat.call("POST", `/compactions/${id}/revert`), 422);

    expect(refused).toMatchObject({ type: "urn:longhand:problem:would_not_fit", limit: 960 });
    expect(refused.tokens).toBeGreaterThan(960);
  });

  it("of an unknown one is 404", async () => {
    const chat = await talked();

    await readBody(await chat.call("POST", "/compactions/cmp_01JD8Z3V6Q4N7R2T5W9X0Y1ABC/revert"), 404);
  });
});

describe("forgetting the summary", () => {
  it("brings back what fits, and there is none afterwards", async () => {
    const chat = await talked();
    const before = await nextRequest(chat);
    await compacted(chat);

    const reset = await readBody<CompactionView>(await chat.call("DELETE", "/summary"));

    expect(reset).toMatchObject({ trigger: "manual", ops: [{ op: "reset" }] });
    expect(await chat.describe()).toMatchObject({ compacted_summary: null });
    expect(await nextRequest(chat)).toBe(before);
    expect((await chat.call("DELETE", "/summary")).status).toBe(204);
  });
});

describe("pins", () => {
  it("are sent with every request, weigh in the context, and survive a compaction", async () => {
    const chat = await talked();
    await readBody(await chat.call("PUT", "/pins", { pins: ["The horse is called Rex."] }));
    await compacted(chat);

    const context = await chat.read<ContextReport>("/context");
    await chat.say("and now?");

    const sent = (await chat.model.heard()).filter((entry) => entry.kind === "turn").at(-1);
    expect(String(sent?.body.messages[0]?.content)).toContain("The horse is called Rex.");
    expect(context.parts.find(({ part }) => part === "pins")?.tokens).toBeGreaterThan(0);
    expect(await chat.describe()).toMatchObject({ pins: [{ text: "The horse is called Rex.", message_id: null, position: null }] });
  });
});

describe("a tenant's default policy", () => {
  it("is merged, checked, and given to its new sessions; null gives the deployment's back", async () => {
    const tenant = await newTenant();
    const patch = (default_policy: unknown) => tenant.call("PATCH", "/v1/tenant", { default_policy });
    const made = async () =>
      readBody<SessionDescription>(await tenant.call("POST", "/v1/sessions", { policy: { keep: { messages: 6 } } }), 201);

    await readBody(await patch("retain"));
    await readBody(await patch({ keep: { max_tokens: 4_000 } }));
    const refused = await readBody<{ errors: readonly { field: string }[] }>(await patch({ keep: { min_tokens: 5_000 } }), 400);
    const first = await made();
    await readBody(await patch(null));
    const second = await made();

    expect(refused.errors.map(({ field }) => field)).toEqual(["default_policy.keep.min_tokens"]);
    expect(first.policy).toEqual({ preset: "retain", keep: { max_tokens: 4_000, messages: 6 } });
    expect(first.effective_policy.keep).toMatchObject({ max_tokens: 4_000, messages: 6, cut: "fills" });
    expect(second.policy).toEqual({ preset: "balanced", keep: { messages: 6 } });
  });
});
