/** The bounds of a reply, whose content is in the memory of an isolate that objects share. */
import { expect, test } from "vitest";
import type { ModelStreamPart } from "../../src/app/ports";
import { Life } from "./life";

const signedCall = (n: number, units: number): ModelStreamPart => ({
  type: "tool_call",
  call: {
    type: "tool_call",
    call_id: `call_${n}`,
    name: "look",
    arguments: "{}",
    provider_metadata: { google: { thoughtSignature: "s".repeat(units) } },
  },
});
const signedCalls = (count: number): ModelStreamPart[] => Array.from({ length: count }, (_, n) => signedCall(n, 100_000));
const finish: ModelStreamPart = { type: "finish", finish: "tool_calls", usage: null };

async function asked(): Promise<Life> {
  const life = new Life();
  await life.open();
  await life.send("look it up");
  return life;
}

test("the signatures of a reply's calls count: beyond 500,000 characters its turn fails and the call is aborted", async () => {
  const life = await asked();

  await life.say(...signedCalls(5), finish);

  expect(life.call.signal.aborted).toBe(true);
  expect(life.events().filter(({ type }) => type === "TurnFailed")).toMatchObject([{ failure: { kind: "output_cap" } }]);
  expect(life.events().filter(({ type }) => type === "ToolCalled")).toEqual([]);
});

test("below that every call is recorded, and weighs what its signature weighs", async () => {
  const life = await asked();

  await life.say(...signedCalls(4), finish);

  const weights = life.runtime.state.view.items.filter(({ kind }) => kind === "tool_call").map(({ tokens }) => tokens);
  expect(weights).toHaveLength(4);
  for (const weight of weights) expect(weight).toBeGreaterThan(20_000);
});

const GIANT = `${"x".repeat(499_999)}${"🦒".repeat(750_000)}`;
test.each(["text", "reasoning"] as const)(
  "the bound holds within one chunk: of 2,000,000 characters of %s 500,000 are kept and shown",
  async (type) => {
    const life = await asked();

    await life.say({ type, text: GIANT }, finish);

    expect(life.call.signal.aborted).toBe(true);
    expect(life.events().filter(({ type }) => type === "TurnFailed")).toMatchObject([{ failure: { kind: "output_cap" } }]);
    expect(life.runtime.state.view.items.at(-1)?.bytes).toBeLessThan(600_000);
  },
);

test("a call whose arguments are too large is none", async () => {
  const life = await asked();

  await life.say(
    { type: "tool_call", call: { type: "tool_call", call_id: "c", name: "look", arguments: JSON.stringify("x".repeat(600_000)) } },
    finish,
  );

  expect(life.events().filter(({ type }) => type === "TurnFailed")).toMatchObject([{ failure: { kind: "output_cap" } }]);
  expect(life.events().filter(({ type }) => type === "ToolCalled")).toEqual([]);
});
