import { beforeAll, describe, expect, it } from "vitest";
import type { ContextReport } from "../../../src/contract/context";
import { GUARD_ONLY, LIMIT, smallChat, TURNS, talk, words } from "../../workers/conversation";
import { type Chat, migrate, newChat, readBody } from "../../workers/support";

beforeAll(migrate);

const NEXT = "What — exactly — comes “next”? 你好 🙂";
const readContext = async (chat: Chat, content: string) => readBody<ContextReport>(await chat.call("POST", "/context", { content }));
const lookUp = { name: "look_up", description: "Looks a thing up", parameters: { type: "object", properties: { q: { type: "string" } } } };
const call = (id: string) => ({ id, name: "look_up", arguments: '{"q": "x",  "n":1}' });

/** The request shown for the next message, and the request that the provider then received. */
async function shownAndSent(chat: Chat) {
  const report = await readContext(chat, NEXT);
  await chat.send(NEXT);
  const sent = (await chat.model.heard()).filter((entry) => entry.kind === "turn" && entry.raw.includes("exactly"));
  return { report, sent: sent[0]?.raw };
}

describe("POST /context {content: X} is, byte for byte, what the provider then receives for X", () => {
  it("in a new session", async () => {
    const chat = await newChat();

    const { report, sent } = await shownAndSent(chat);

    expect(report.request.body).toBe(sent);
    expect(report.compaction_first).toBeNull();
    expect(report.request.url).toMatch(/\/v1\/chat\/completions$/);
  });

  it("with a system prompt, tools, imported messages and several turns", async () => {
    const chat = await newChat({
      system: "Be brief.\n\tAlways.",
      tools: [lookUp],
      replies: [{ text: "One — “one”.", reasoning: "thinking" }],
    });
    await chat.append("Background.", "system");
    await chat.append("I said.", "assistant");
    await chat.say("first");

    const { report, sent } = await shownAndSent(chat);

    expect(report.request.body).toBe(sent);
  });

  it("after tool calls, results, a call without a result and a reply that was cut off", async () => {
    const replies = [
      { text: "Looking.", tool_calls: [call("a"), call("a")] },
      { tool_calls: [call("b"), call("c")] },
      { deltas: ["Half", { gate: "never" }] },
    ];
    const chat = await newChat({ tools: [lookUp], replies });
    await chat.say("first");
    await chat.call("POST", "/tool_results", {
      results: [
        { call_id: "a", output: "1" },
        { call_id: "a", output: { b: [2] } },
      ],
    });
    await chat.call("POST", "/tool_results", { results: [{ call_id: "c", output: "3", is_error: true }] });
    const frames = await chat.hear("second");
    await frames.until("text.delta");
    await chat.call("POST", "/stop");

    const { report, sent } = await shownAndSent(chat);

    expect(report.request.body).toBe(sent);
    expect(JSON.parse(report.request.body).messages).toHaveLength(10);
  });

  it("after a compaction", async () => {
    const { chat, frames } = await smallChat({ system: "Be brief.", summaries: [{ text: words(60, "SUMMARY") }] });
    await talk(chat, 1, TURNS);
    await frames.until("compaction.completed");

    const { report, sent } = await shownAndSent(chat);

    expect(report.request.body).toBe(sent);
    expect(report).toMatchObject({
      epoch: 1,
      parts: [{ part: "system" }, { part: "tools" }, { part: "summary", position: 1 }, {}, {}, {}],
    });
    await frames.leave();
  });

  it("after a trim", async () => {
    const broken = { status: 503, error: { message: "no" } };
    const { chat, frames } = await smallChat({ summaries: [broken, broken] });
    await talk(chat, 1, TURNS);
    await frames.until("notice");

    const { report, sent } = await shownAndSent(chat);

    expect(report.request.body).toBe(sent);
    await frames.leave();
  });

  it("when the message does not fit as the view stands, and the guard drops something for it", async () => {
    const { chat, frames } = await smallChat({ policy: GUARD_ONLY });
    for (let n = 1; n <= 16; n++) await chat.append(words(300, `note-${n}`), n % 2 ? "user" : "assistant");

    const { report, sent } = await shownAndSent(chat);

    expect(report.request.body).toBe(sent);
    expect(report.total.tokens).toBeLessThanOrEqual(report.limit ?? 0);
    await frames.leave();
  });

  it.each([
    ["the guard drops what must go", { preset: "oneclaw" } as const],
    ["a note with counts stands for it", { preset: "oneclaw", on_failure: "note" } as const],
  ])("when a compaction would come first and fails: it says so, and %s", async (_, policy) => {
    const broken = { status: 503, error: { message: "no" } };
    const { chat, frames } = await smallChat({ policy, summaries: [broken, broken] });
    for (let n = 1; n <= 16; n++) await chat.append(words(300, `note-${n}`), n % 2 ? "user" : "assistant");

    const { report, sent } = await shownAndSent(chat);

    expect(report.compaction_first).toMatchObject({ trigger: "inline" });
    expect(report.compaction_first?.expected.tokens).toBeLessThan(LIMIT);
    expect(report.request.body).toBe(sent);
    expect((await chat.model.heard()).map((entry) => entry.kind)).toEqual(["compaction", "compaction", "turn"]);
    await frames.leave();
  });

  it("when a message waits for tool results that X takes the place of", async () => {
    const chat = await newChat({ replies: [{ tool_calls: [call("a")] }] });
    await chat.say("first", { tools: [lookUp] });

    const { report, sent } = await shownAndSent(chat);

    expect(report.request.body).toBe(sent);
    expect(JSON.parse(report.request.body).tools).toBeUndefined();
  });
});

const SHORT_WINDOW = 1_650;

describe("GET /context", () => {
  it("refuses what sending would refuse: a message that cannot fit", async () => {
    // In a URL there is room for about 2,000 words.
    const chat = await newChat({ window: SHORT_WINDOW, maxOutput: 100 });

    const refused = await chat.call("GET", `/context?content=${encodeURIComponent(words(1_700, "long"))}`);
    const sent = await chat.send(words(1_700, "long"));

    expect([refused.status, sent.status]).toEqual([422, 200]);
    expect(await sent.json()).toMatchObject({ status: "failed", failure: { kind: "cannot_fit", fit: { limit: SHORT_WINDOW - 100 } } });
    expect(await refused.json()).toMatchObject({ type: "urn:longhand:problem:cannot_fit", fit: { limit: SHORT_WINDOW - 100 } });
    expect(await chat.model.heard()).toEqual([]);
  });

  it("changes nothing", async () => {
    const chat = await newChat();
    await chat.say("first");
    const before = await chat.events();

    await readContext(chat, NEXT);

    expect(await chat.events()).toEqual(before);
    expect(await chat.model.heard()).toHaveLength(1);
  });

  it("says where its figures come from: reported up to the last reply, estimated from there", async () => {
    const chat = await newChat({ replies: [{ text: "one" }] });
    const fresh = await chat.read<ContextReport>("/context");
    await chat.say("first");
    const [entry] = await chat.model.heard(1);
    const reported = (entry?.prompt_tokens ?? 0) + (entry?.completion_tokens ?? 0);

    expect(fresh.total).toMatchObject({ tokens: 0, source: "estimated" });
    expect((await chat.read<ContextReport>("/context")).total).toEqual({ tokens: reported, source: "reported", error_bound: 0 });
    const next = (await readContext(chat, NEXT)).total;
    expect(next.source).toBe("mixed");
    expect(next.tokens).toBeGreaterThan(reported);
  });
});
