/** A compaction that waits for a person, end to end: the API, the object, the queue and the rows in D1. */
import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it, vi } from "vitest";
import type { CompactionView } from "../../../src/contract/compaction";
import type { SummaryComparison } from "../../../src/contract/comparison";
import type { ContextReport } from "../../../src/contract/context";
import type { LedgerRow } from "../../../src/contract/model-call";
import type { Page } from "../../../src/contract/page";
import { words } from "../../workers/conversation";
import { type Chat, migrate, newChat, readBody, request } from "../../workers/support";

beforeAll(migrate);

const SUMMARY = { text: words(60, "SUMMARY") };

/** Five turns in a window that they do not fill. */
async function talked(): Promise<Chat> {
  const chat = await newChat({ window: 32_000, system: "Be brief.", summaries: [SUMMARY, { text: words(50, "SECOND") }] });
  for (let turn = 1; turn <= 5; turn++) {
    await chat.model.says({ text: words(200, `reply-${turn}`) });
    await chat.say(words(150, `question-${turn}`));
  }
  return chat;
}

const nextRequest = async (chat: Chat) => (await chat.read<ContextReport>("/context")).request.body;

/** Requested, and made by the queue's worker. */
async function drafted(chat: Chat, body: object = {}): Promise<CompactionView> {
  const frames = await chat.listen(0);
  const asked = await readBody<CompactionView>(await chat.call("POST", "/compactions", { draft: true, keep_recent: 500, ...body }), 202);
  await frames.until("compaction.drafted", (frame) => frame.compaction_id === asked.id);
  await frames.leave();
  return chat.read(`/compactions/${asked.id}`);
}

const readRow = (chat: Chat, id: string) =>
  env.DB.prepare("SELECT status, summary, receipt FROM compactions WHERE tenant_id = ?1 AND session_id = ?2 AND id = ?3")
    .bind(chat.tenant.id, chat.id, id)
    .first<{ status: string; summary: string | null; receipt: string | null }>();

const rebuild = async (chat: Chat) =>
  readBody(await request("POST", `/v1/admin/tenants/${chat.tenant.id}/sessions/${chat.id}/rebuild`, { key: env.ADMIN_KEY }));

describe("a draft", () => {
  it("is previewed, edited by a key, and committed: the request holds the person's words, the rows say whose they are", async () => {
    const chat = await talked();
    const before = await nextRequest(chat);
    const draft = await drafted(chat);
    expect(draft).toMatchObject({ status: "drafted", summary: SUMMARY.text, draft: { edits: 0 }, ops: [{ op: "summarize" }] });
    expect(await nextRequest(chat)).toBe(before);
    await vi.waitFor(async () => expect(await readRow(chat, draft.id)).toEqual({ status: "drafted", summary: null, receipt: null }));

    const edit = { summary: "They spoke of horses.", edits: 0 };
    const edited = await readBody<CompactionView>(await chat.call("PATCH", `/compactions/${draft.id}`, edit));
    const late = await readBody(await chat.call("PATCH", `/compactions/${draft.id}`, { ...edit, summary: "Of mares." }), 409);
    const done = await readBody<CompactionView>(await chat.call("POST", `/compactions/${draft.id}/commit`, { edits: 1 }));

    expect(edited).toMatchObject({ summary: edit.summary, draft: { edits: 1 }, receipt: { tokens_after: done.receipt?.tokens_after } });
    expect(edited.draft?.edited_by).toMatch(/^key_/);
    expect(late).toMatchObject({ type: "urn:longhand:problem:draft_edited", edits: 1 });
    expect(done).toMatchObject({ status: "completed", did_compact: true, receipt: { edited: { by: edited.draft?.edited_by } } });
    expect(await nextRequest(chat)).toContain(edit.summary);
    await vi.waitFor(async () => expect(await readRow(chat, draft.id)).toMatchObject({ status: "completed", summary: edit.summary }));
    expect((await readRow(chat, draft.id))?.receipt).toContain(edited.draft?.edited_by);
    expect(await rebuild(chat)).toMatchObject({ differences: [] });
  });

  it("is committed once, however often its key is sent", async () => {
    const chat = await talked();
    const { id } = await drafted(chat);
    const send = () => chat.call("POST", `/compactions/${id}/commit`, {}, { "idempotency-key": "once" });

    const answers = await Promise.all([send(), send()]);

    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect(answers.map((answer) => answer.headers.get("idempotent-replayed")).sort()).toEqual(["true", null].sort());
    expect((await chat.describe()).epoch).toBe(1);
  });

  it("is discarded, and another may be asked for; while one stands none may", async () => {
    const chat = await talked();
    const { id } = await drafted(chat);
    const refused = await readBody(await chat.call("POST", "/compactions", { draft: true, keep_recent: 500 }), 409);

    const gone = await chat.call("DELETE", `/compactions/${id}`);

    expect(refused).toMatchObject({ type: "urn:longhand:problem:draft_open", compaction_id: id });
    expect(gone.status).toBe(204);
    expect(await chat.read<CompactionView>(`/compactions/${id}`)).toMatchObject({ status: "failed", failure: "discarded" });
    expect(await drafted(chat)).toMatchObject({ status: "drafted", summary: words(50, "SECOND") });
    expect(await rebuild(chat)).toMatchObject({ differences: [] });
  });
});

describe("a rebuilt summary", () => {
  it("is compared with the one that stands, also by a question, before it takes its place", async () => {
    const chat = await talked();
    const first = await drafted(chat);
    await readBody(await chat.call("POST", `/compactions/${first.id}/commit`));
    const again = await drafted(chat, { rebuild: true, keep_recent: null });
    await chat.model.says({ text: "It says SUMMARY." }, { text: "It says SECOND." });

    const questions = [{ question: "What does it say?", expect: "second" }];
    const compared = await readBody<SummaryComparison>(
      await chat.call("POST", "/compactions/compare", { a: "current", b: again.id, questions }),
    );

    expect(compared).toMatchObject({ a: { text: SUMMARY.text }, b: { text: words(50, "SECOND") }, terms_complete: true });
    expect(compared.diff.map((line) => line.in)).toEqual(["a", "b"]);
    const [asked] = compared.questions;
    expect([asked?.a.text, asked?.b.text].sort()).toEqual(["It says SECOND.", "It says SUMMARY."]);
    expect(asked).toMatchObject({ a: { in_summary: false }, b: { in_summary: true } });
    expect((await chat.read<Page<LedgerRow>>("/usage")).data.filter(({ purpose }) => purpose === "comparison")).toHaveLength(2);
    const done = await readBody<CompactionView>(await chat.call("POST", `/compactions/${again.id}/commit`));
    expect(done).toMatchObject({ status: "completed", rebuild: true, range: first.range });
    expect(await rebuild(chat)).toMatchObject({ differences: [] });
  });
});
