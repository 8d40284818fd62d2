import { beforeAll, describe, expect, it } from "vitest";
import type { TurnReport } from "../../../src/contract/turn";
import { GUARD_ONLY, type LongChat, smallChat, words } from "../../workers/conversation";
import { type Chat, type ChatInput, migrate, newChat, newTenant, readBody, readText } from "../../workers/support";

beforeAll(migrate);

const WINDOW = 2_048;
/** window − reserve of that model. */
const LIMIT = WINDOW - 100;

const guardedChat = (input: ChatInput = {}): Promise<LongChat> => smallChat({ window: WINDOW, limit: LIMIT, policy: GUARD_ONLY, ...input });

const hex = (length: number, seed: number) =>
  Array.from({ length }, (_, index) => (((index + seed) * 2_654_435_761) >>> (index % 24)).toString(16).at(-1)).join("");

/** Texts that are hard to estimate, each about a third of the window. */
const hard: readonly (readonly [string, (n: number) => string])[] = [
  ["English", (n) => words(600, `note-${n}`)],
  [
    "JSON",
    (n) => JSON.stringify(Array.from({ length: 45 }, (_, index) => ({ id: index * n, ok: true, tags: ["a", null], at: 1.5e-7 * index }))),
  ],
  ["Chinese", (n) => `第${n}条。${"我们在河边看见一座老房子，天空很蓝。".repeat(40)}`],
  ["hexadecimal", (n) => hex(1_200, n)],
  ["base64", (n) => btoa(hex(900, n))],
  ["digits", (n) => Array.from({ length: 300 }, (_, index) => (index * 7_919 * n) % 1_000_003).join(" ")],
  ["emoji", (n) => "🙂🎉👩‍👩‍👧‍👦🇩🇪".repeat(40 + n)],
  ["code", (n) => Array.from({ length: 60 }, (_, index) => `if(x${index}!==y[${n}])){return f(${index},"a\\n")??{}}`).join("\n")],
];

const overflows = async (chat: Chat) => (await chat.model.heard()).filter((entry) => entry.overflow);

describe("a request that would exceed the window", () => {
  it.each(hard)("loses its oldest groups first, so that the provider never refuses it: %s", async (_, text) => {
    const { chat, frames } = await guardedChat();
    for (let n = 1; n <= 12; n++) await chat.append(text(n), n % 2 ? "user" : "assistant");

    const report = await chat.say("and now?");

    expect(report).toMatchObject({ status: "completed", notices: [{ code: "history_trimmed" }] });
    expect(await overflows(chat)).toEqual([]);
    await frames.until("notice", ({ code }) => code === "history_trimmed");
    expect((await chat.items()).slice(0, 12).map(readText)).toEqual(Array.from({ length: 12 }, (_, index) => text(index + 1)));
    await frames.leave();
  });

  it("turn after turn, with any messages, is never refused by the provider", async () => {
    const { chat, frames } = await guardedChat();

    for (let n = 1; n <= 16; n++) {
      const [, text] = hard[n % hard.length] ?? hard[0] ?? ["", String];
      await chat.model.says({ text: words(90, `reply-${n}`) });
      await chat.say(text(n).slice(0, 900));
    }

    expect(await overflows(chat)).toEqual([]);
    expect(await chat.countEvents("TurnCompleted")).toBe(16);
    await frames.leave();
  });

  it("because the session moved to a smaller model, loses what that one cannot hold", async () => {
    const tenant = await newTenant();
    const big = await newChat({ tenant, window: 16_000, policy: GUARD_ONLY });
    const small = await newChat({ tenant, window: WINDOW, maxOutput: 100, limit: LIMIT });
    for (let n = 1; n <= 6; n++) await big.say(words(600, `question-${n}`));

    await readBody(await big.call("PATCH", "", { model: small.model.upstream }));
    const report = await big.say("and now?");

    expect(report).toMatchObject({ status: "completed", context_window: WINDOW });
    expect(await overflows(small)).toEqual([]);
    // The smaller window may have requested a summary before.
    const asked = (await small.model.heard(1)).find((entry) => entry.kind === "turn");
    expect(asked?.body.messages.at(-1)?.content).toBe("and now?");
  });

  it("keeps the last user message and the notice of the gap", async () => {
    const { chat, frames } = await guardedChat({ system: "Be brief." });
    for (let n = 1; n <= 8; n++) await chat.append(words(600, `note-${n}`), n % 2 ? "user" : "assistant");

    await chat.say("and now?");

    const [sent] = await chat.model.heard(1);
    const contents = sent?.body.messages.map(({ content }) => String(content)) ?? [];
    expect(contents[0]).toMatch(/^\[\d+ earlier messages of this conversation are not shown here: .*\]\n\n---\n\nBe brief\.$/);
    expect(contents.at(-1)).toBe("and now?");
    await frames.leave();
  });

  it("never separates a call from its result", async () => {
    const { chat, frames } = await guardedChat({
      replies: [1, 2, 3].map((n) => ({ tool_calls: [{ id: `c${n}`, name: "look", arguments: "{}" }] })),
    });
    await chat.say("look", { tools: [{ name: "look", parameters: { type: "object" } }] });
    for (const n of [1, 2, 3])
      await chat.call("POST", "/tool_results", { results: [{ call_id: `c${n}`, output: words(700, `result-${n}`) }] });

    expect(await overflows(chat)).toEqual([]);
    const last = (await chat.model.heard(4)).at(-1);
    const roles =
      last?.body.messages.map(({ role, tool_call_id, tool_calls }) => `${role} ${tool_call_id ?? tool_calls?.[0]?.id ?? ""}`) ?? [];
    const calls = roles.filter((role) => role.startsWith("assistant c")).map((role) => role.slice(10));
    expect(roles.filter((role) => role.startsWith("tool")).map((role) => role.slice(5))).toEqual(calls);
    expect(roles).toContain("user ");
    expect(calls).toContain("c3");
    await frames.leave();
  });

  it("shortens a result that alone is too long, in the view only", async () => {
    const chat = await newChat({
      window: 4_000,
      maxOutput: 200,
      limit: 3_800,
      replies: [{ tool_calls: [{ id: "c1", name: "look", arguments: "{}" }] }],
    });
    const output = `${words(4_000, "HEAD")} TAIL`;
    await chat.say("look", { tools: [{ name: "look", parameters: { type: "object" } }] });

    const report = await readBody<TurnReport>(await chat.call("POST", "/tool_results", { results: [{ call_id: "c1", output }] }));

    expect(report.status).toBe("completed");
    const sent = String((await chat.model.heard(2)).at(-1)?.body.messages.at(-1)?.content);
    expect(sent.length).toBeLessThan(2_000);
    expect(sent).toMatch(/^HEAD .* characters left out of this view .* TAIL$/s);
    expect((await chat.items()).filter((item) => item.role === "tool").map(readText)).toEqual([output]);
  });
});

describe("what no compaction can remove", () => {
  it("fails the turn before anything is sent, with the floor, the limit and what weighs most; a shorter message goes through", async () => {
    const { chat, frames } = await guardedChat();

    const refused = await chat.send(words(2_400, "too-long"));
    const asked = await chat.model.heard();
    const next = await chat.say("short");

    expect(refused.status).toBe(200);
    expect(await refused.json()).toMatchObject({
      failure: { kind: "cannot_fit", fit: { limit: LIMIT, biggest: [{ what: "user at position 1" }, {}] } },
    });
    expect(asked).toEqual([]);
    expect(next.status).toBe("completed");
    expect(await overflows(chat)).toEqual([]);
    await frames.leave();
  });

  it("a system prompt larger than the window is refused by name when the session is made or changed", async () => {
    const chat = await newChat({ window: WINDOW });
    const system = words(3_000, "long");

    const made = await chat.tenant.call("POST", "/v1/sessions", { model: chat.model.upstream, system });
    const changed = await chat.call("PATCH", "", { system });

    for (const refused of [made, changed]) {
      expect(refused.status).toBe(400);
      expect(await refused.json()).toMatchObject({ errors: [{ field: "system" }] });
    }
  });
});
