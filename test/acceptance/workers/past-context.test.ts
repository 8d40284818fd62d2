/** Past requests over HTTP and in workerd: a turn's request as the provider received it, and the differences between two requests. */
import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { beforeAll, describe, expect, it } from "vitest";
import type { ContextDiff, PastContext } from "../../../src/contract/context";
import type { TurnReport } from "../../../src/contract/turn";
import { smallChat, TURNS, talk, words } from "../../workers/conversation";
import { type Chat, migrate, newChat, readBody } from "../../workers/support";

beforeAll(migrate);

const readPast = (chat: Chat, turn: string, call?: number) => chat.read<PastContext>(`/context?at=${turn}${call ? `&call=${call}` : ""}`);
const lookUp = { name: "look_up", description: "Looks a thing up", parameters: { type: "object", properties: { q: { type: "string" } } } };

/** The turns' ids in order, each once. */
async function listTurns(chat: Chat): Promise<string[]> {
  return [...new Set((await chat.events()).flatMap((event) => (event.type === "TurnStarted" ? [event.turn] : [])))];
}

/** Every request of every turn, in order. */
async function allPast(chat: Chat): Promise<PastContext[]> {
  const all: PastContext[] = [];
  for (const turn of await listTurns(chat)) {
    const { calls } = await readPast(chat, turn);
    for (const { n } of calls) all.push(await readPast(chat, turn, n));
  }
  return all;
}

const sentTo = async (chat: Chat): Promise<string[]> =>
  (await chat.model.heard()).filter(({ kind }) => kind === "turn").map(({ raw }) => raw);

describe("GET /context?at=TURN", () => {
  it("is what the provider received, before and after a compaction, with tools and without, in another life of the object", async () => {
    const { chat, frames } = await smallChat({ system: "Be brief.", summaries: [{ text: words(60, "SUMMARY") }] });
    await talk(chat, 1, TURNS);
    await frames.until("compaction.completed");
    await frames.leave();
    await chat.model.says({ tool_calls: [{ id: "a", name: "look_up", arguments: '{"q": "x"}' }] }, { text: "Found — “it”." });
    await chat.say("Look it up.", { tools: [lookUp] });
    const answered = await chat.call("POST", "/tool_results", { results: [{ call_id: "a", output: "1" }] });
    await readBody<TurnReport>(answered);
    await evictDurableObject(chat.stub);

    const told = await allPast(chat);

    expect(told.map(({ request }) => request.body)).toEqual(await sentTo(chat));
    expect(new Set(told.map(({ digest }) => digest.matches))).toEqual(new Set([true]));
    expect(told.at(-1)).toMatchObject({
      call: 2,
      epoch: 1,
      parts: [{ part: "system" }, { part: "tools" }, { part: "summary" }, {}, {}, {}, {}, {}],
    });
    expect(told.at(-1)?.request.url).toMatch(/\/v1\/chat\/completions$/);
  });

  it("is the same from a checkpoint, and from the log's start", async () => {
    const chat = await newChat();
    for (let n = 0; n < 260; n++) await chat.api.submit(chat.caller, { ...said, parts: [{ type: "text", text: `note ${n}` }] });
    const { id } = await chat.say("What did I note?");
    const seqs = () =>
      runInDurableObject(chat.stub, (_, { storage }) => [...storage.sql.exec<{ seq: number }>("SELECT seq FROM checkpoints")].length);
    expect(await seqs()).toBe(1);

    const near = await readPast(chat, id);
    await runInDurableObject(chat.stub, (_, { storage }) => storage.sql.exec("DELETE FROM checkpoints"));
    const far = await readPast(chat, id);

    expect(far).toEqual(near);
    expect([near.request.body]).toEqual(await sentTo(chat));
    expect([near.digest.matches, await seqs()]).toEqual([true, 1]);
  });

  it("is 404 for a turn of another session, and for a call that the turn has not made", async () => {
    const [chat, other] = [await newChat(), await newChat()];
    const { id } = await chat.say("hello");

    const answers = [await other.call("GET", `/context?at=${id}`), await chat.call("GET", `/context?at=${id}&call=2`)];

    expect(await Promise.all(answers.map((answer) => readBody<{ type: string }>(answer, 404)))).toMatchObject([
      { type: "urn:longhand:problem:turn_not_found" },
      { type: "urn:longhand:problem:request_not_found", calls: 1 },
    ]);
  });
});

describe("GET /context/diff", () => {
  it("says what left for which compaction, and what the cache could keep of the request before", async () => {
    const { chat, frames } = await smallChat({ system: "Be brief.", summaries: [{ text: words(60, "SUMMARY") }] });
    await talk(chat, 1, TURNS);
    const done = await frames.until("compaction.completed");
    await frames.leave();
    await chat.say("And now?");
    const turns = await listTurns(chat);

    const within = await chat.read<ContextDiff>(`/context/diff?from=${turns[0]}&to=${turns[TURNS - 1]}`);
    const across = await chat.read<ContextDiff>(`/context/diff?from=${turns[TURNS - 1]}&to=now`);

    expect(within).toMatchObject({ left: { count: 0 }, prefix: { messages: 1 }, epochs: [] });
    expect(within.prefix.tokens).toBe(within.from.tokens);
    expect(across.summaries.came).toMatchObject({ count: 1, data: [{ kind: "summary", by: across.epochs[0]?.compaction_id }] });
    expect(across).toMatchObject({ from: { epoch: 0 }, to: { turn_id: null, epoch: 1 }, prefix: { messages: 0 } });
    expect(across.left.count).toBeGreaterThan(0);
    expect(JSON.stringify(done)).toContain(String(across.epochs[0]?.compaction_id));
  });
});

const said = { role: "user", run: false, onBusy: "queue", tools: null, idempotency: null } as const;
