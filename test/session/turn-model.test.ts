/** A message may name the model of its own turn. Every size of that turn is measured with that model, and with no other. */
import { describe, expect, test } from "vitest";
import type { ModelSpec } from "../../src/app/ports";
import type { SubmitInput } from "../../src/app/session-api";
import { MAX_CONTENT_BYTES } from "../../src/context/request-bytes";
import type { Part } from "../../src/domain/message";
import { id } from "../support/builders";
import { CALLER, failure, Life, MESSAGE, SPEC, settle } from "./life";
import { append } from "./talk";

const model = (name: string, more: Partial<ModelSpec> = {}): ModelSpec => ({ ...SPEC, id: name, upstream_id: name, ...more });
const reading = (images: boolean) => ({ images, files: images, tools: true, reasoning: false });
const KNOWN = [
  model("plain"),
  model("dense", { ratio: 1.9 }),
  model("small", { context_window: 4_000 }),
  model("blind", { provider: "openai", context_window: 16_000, capabilities: reading(false) }),
  model("seeing", { provider: "openai", context_window: 16_000, capabilities: reading(true) }),
  model("wide", { provider: "openai", context_window: 2_000_000, capabilities: reading(false) }),
  model("wide-seeing", { provider: "openai", context_window: 2_000_000, capabilities: reading(true) }),
];

const TEXTS: readonly (readonly Part[])[] = Array.from({ length: 10 }, (_, n) => [
  { type: "text", text: `m${n} ${"lorem ipsum dolor ".repeat(140)}` },
]);
const picture = (name: string): Part => ({ type: "image", url: `https://example.org/${name}.png`, media_type: "image/png" });
const PICTURES: readonly (readonly Part[])[] = Array.from({ length: 12 }, (_, n) =>
  n % 2 ? [{ type: "text", text: "seen" }] : [picture(`${n}a`), picture(`${n}b`)],
);

/** A conversation with one model, whose next message may name another. */
async function ask(session: string, own: string | null, messages: readonly (readonly Part[])[]): Promise<Life> {
  const life = new Life();
  life.models = { resolve: async (name) => KNOWN.find((spec) => spec.id === name) ?? null };
  await life.open("oneclaw", null, { model: session });
  for (const [n, parts] of messages.entries()) await append(life, n % 2 ? "assistant" : "user", parts);
  const input: SubmitInput = { ...MESSAGE, parts: [{ type: "text", text: "and now?" }], ...(own !== null && { model: own }) };
  await life.service.submit(CALLER, input);
  await settle();
  return life;
}

const describeFirst = ({ calls: [first] }: Life) => [first?.request.purpose, first?.request.model.id, first?.request.messages.length];

describe("a message's own model is asked as if it were the session's", () => {
  test.each([
    ["counts more than the session's", "plain", "dense", TEXTS, "compaction"],
    ["counts less than the session's", "dense", "plain", TEXTS, "turn"],
    ["has a smaller window", "plain", "small", TEXTS, "compaction"],
    ["sees images that the session's does not", "blind", "seeing", PICTURES, "compaction"],
    ["sees no images that the session's sees", "seeing", "blind", PICTURES, "turn"],
  ])("where it %s", async (_, session, own, messages, first) => {
    const [asOwn, asSession] = [await ask(session, own, messages), await ask(own, null, messages)];
    expect(describeFirst(asOwn)).toEqual(describeFirst(asSession));
    expect(describeFirst(asOwn)[0]).toBe(first);
  });

  test("after which the session's model reads the view that it left", async () => {
    const life = await ask("plain", "dense", TEXTS);
    while (life.call.request.purpose === "compaction") await life.summarize("They spoke.");
    await life.answer("now");
    const { items } = life.runtime.state.view;
    await life.send("and then?");
    expect(life.call.request).toMatchObject({ purpose: "turn", model: { id: "plain" } });
    expect(life.runtime.state.view.items.length).toBe(items.length + 1);
  });

  test("which refuses a request, and the rescue cuts the view no further than for the session's model", async () => {
    const left = async (life: Life) => {
      if (life.call.request.purpose === "compaction") await life.summarize("They spoke.");
      await life.say(failure("overflow"));
      while (life.call.request.purpose === "compaction") await life.summarize("They spoke.");
      return life.runtime.state.view.items.length;
    };
    expect(await left(await ask("plain", "dense", TEXTS))).toBe(await left(await ask("dense", null, TEXTS)));
  });
});

test("files that a message's own model is sent inside the request are within the bound of every request", async () => {
  const stored = (n: number): Part => ({ type: "image", file_id: id("fil", n), media_type: "image/png", bytes: 600_000, tokens: 1_600 });
  const messages = Array.from({ length: 40 }, (_, n): readonly Part[] => [n % 2 ? { type: "text", text: "seen" } : stored(n)]);
  const life = await ask("wide", "wide-seeing", messages);
  while (life.call.request.purpose === "compaction") await life.summarize("They spoke.");
  const files = life.call.request.messages.flatMap(({ parts }) => parts.flatMap((part) => ("file_id" in part ? [part.bytes] : [])));
  expect(life.call.request).toMatchObject({ purpose: "turn", model: { id: "wide-seeing" } });
  expect(files.length).toBeGreaterThan(0);
  expect(files.reduce((sum, bytes) => sum + (bytes * 4) / 3, 0)).toBeLessThanOrEqual(MAX_CONTENT_BYTES);
});

test("the next request is compared as the open turn's own model is sent it", async () => {
  const life = await ask("plain", "dense", TEXTS.slice(0, 2));
  const next = { turn: null, call: null };
  expect(await life.service.contextDiff(CALLER, { from: next, to: next })).toMatchObject({ value: { to: { model: "dense" } } });
  await life.answer("now");
  expect(await life.service.contextDiff(CALLER, { from: next, to: next })).toMatchObject({ value: { to: { model: "plain" } } });
});
