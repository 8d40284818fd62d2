/** A past request, in each provider's own wire format, is byte for byte the one that the provider received. */
import { afterEach, describe, expect, it } from "vitest";
import type { ToolDefinition } from "../../src/domain/message";
import { CALLER, Life, settle } from "../session/life";
import { allPast, listTurns, watched } from "../session/sent";
import { compact } from "../session/talk";
import type { ScriptedReply } from "../support/stand-in/providers/script";
import { type Bench, openBench, PROVIDERS_UNDER_TEST, type ProviderUnderTest } from "./providers";

const tool: ToolDefinition = { name: "lookup", parameters: { type: "object", properties: { q: { type: "string" } } } };
const look: ScriptedReply = {
  blocks: [
    { type: "thinking", text: "hm" },
    { type: "text", text: "Looking." },
    { type: "call", name: "lookup", arguments: '{"q": "a"}' },
  ],
};
const answer: ScriptedReply = {
  blocks: [
    { type: "thinking", text: "so" },
    { type: "text", text: "So it is – 日本語." },
  ],
};

const benches: Bench[] = [];
afterEach(async () => {
  for (const { standIn } of benches.splice(0)) await standIn.close();
});

/** A session whose model is the provider's own adapter. */
async function openSession(provider: ProviderUnderTest): Promise<{ life: Life; bench: Bench }> {
  const bench = await openBench(provider);
  benches.push(bench);
  const life = watched(new Life());
  life.chat = bench.model;
  life.models = { resolve: async (id) => ({ ...bench.spec, id }) };
  const settings = { model: bench.spec.id, policy: "oneclaw", system: "You answer briefly.", title: null, metadata: {} };
  await life.service.open(CALLER, { ...settings, tools: [tool] });
  return { life, bench };
}

/** Runs until the turn has ended or waits for its tools. */
async function atRest(life: Life): Promise<void> {
  const turn = listTurns(life).at(-1);
  if (turn) await life.service.waitForTurn(CALLER, turn);
  await settle();
}

async function say(life: Life, text: string): Promise<void> {
  const parts = [{ type: "text", text }] as const;
  await life.service.submit(CALLER, { role: "user", parts, run: true, onBusy: "queue", tools: null, idempotency: null });
  await atRest(life);
}

async function useTool(life: Life, text: string): Promise<void> {
  await say(life, text);
  const [open] = life.runtime.state.turn?.open_calls ?? [];
  if (!open) throw new Error("no tool was asked for");
  const results = [{ execution_id: open.execution, call_id: null, output: "found", is_error: false }];
  await life.service.toolResults(CALLER, { results, idempotency: null });
  await atRest(life);
}

describe.each(PROVIDERS_UNDER_TEST)("a past request to $name", (provider) => {
  it("is told as it was received: rounds of tools, a change of the view, of the settings and of the model", async () => {
    const { life, bench } = await openSession(provider);
    bench.standIn.enqueue(answer, look, answer, answer, answer);
    await say(life, `Hello there. ${"And then some. ".repeat(100)}`);
    await useTool(life, "Look it up.");
    await compact(life, 20);
    await say(life, "Is it?");
    await life.service.patch(CALLER, { system: "You answer at length.", model: "another" });
    await say(life, "Why?");

    const told = await allPast(life);

    expect(told.map(({ request }) => request.body)).toEqual(bench.standIn.log.map(({ raw }) => raw));
    expect(told.map(({ digest }) => digest.matches)).toEqual([true, true, true, true, true]);
    expect(told.map(({ epoch }) => epoch)).toEqual([0, 0, 0, 1, 2]);
  });

  it("is told as it was received with generation settings: of the session, of a message over them, changed since, and repeated", async () => {
    const { life, bench } = await openSession(provider);
    bench.standIn.enqueue(answer, answer, answer, answer);
    const format = { type: "json_schema", name: "city", schema: { type: "object", properties: { city: { type: "string" } } } } as const;
    await life.service.patch(CALLER, { generation: { max_output_tokens: 500, tool_choice: "none", response_format: format } });
    await say(life, "Hello there.");
    const parts = [{ type: "text", text: "And now?" }] as const;
    const own = { generation: { max_output_tokens: 400, response_format: null }, model: "another" };
    const sent = await life.service.submit(CALLER, {
      ...{ role: "user", parts, run: true, onBusy: "queue", tools: null, idempotency: null, ...own },
    });
    await atRest(life);
    await life.service.patch(CALLER, { generation: null });
    await say(life, "Why?");
    if (!sent.ok) throw new Error(sent.error.code);
    await life.service.regenerate(CALLER, { message: sent.value.message_id, idempotency: null });
    await atRest(life);

    const told = await allPast(life);

    expect(told.map(({ request }) => request.body)).toEqual(bench.standIn.log.map(({ raw }) => raw));
    expect(told.map(({ digest }) => digest.matches)).toEqual([true, true, true, true]);
    expect(bench.standIn.log.map(({ raw }) => [raw.includes("city"), /max\w*":[45]00\b/i.test(raw)])).toEqual([
      [true, true],
      [false, true],
      [false, false],
      [false, true],
    ]);
  });

  it("is told as it was received where the provider failed, and then answered", async () => {
    const { life, bench } = await openSession(provider);
    bench.standIn.enqueue({ blocks: [], mishap: { type: "hang_up" } }, answer);
    const waiting = say(life, "Hello there.");
    const isFailed = (): boolean => life.events().some(({ type }) => type === "ModelCallFinished");
    while (!isFailed()) await life.runtime.progress.next();
    await life.advance(20_000);
    await waiting;

    const told = await allPast(life);

    expect(told.map(({ request }) => request.body)).toEqual(bench.standIn.log.map(({ raw }) => raw));
    expect(told.map(({ digest, calls }) => [digest.matches, calls.length])).toEqual([
      [true, 2],
      [true, 2],
    ]);
  });
});
