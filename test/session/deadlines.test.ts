/** The activity that resets a turn's deadlines: anything that the provider writes, even before it makes a chunk. */
import { expect, test } from "vitest";
import { Life, SPEC } from "./life";

async function asked(reasoning = false): Promise<Life> {
  const life = new Life();
  const capabilities = { tools: true, images: true, files: true, reasoning };
  life.models = { resolve: async () => ({ ...SPEC, capabilities }) };
  await life.open();
  await life.send("write the file");
  return life;
}

test("a tool call whose arguments come for longer than the deadlines of first token and silence ends as it was written", async () => {
  const life = await asked();

  for (let n = 0; n < 10; n++) {
    await life.advance(50_000);
    life.call.progress();
  }
  const call = { type: "tool_call", call_id: "c1", name: "write_file", arguments: "{}" } as const;
  await life.say({ type: "tool_call", call }, { type: "finish", finish: "tool_calls", usage: null });

  expect(life.call.signal.aborted).toBe(false);
  expect(life.runtime.state.turn).toMatchObject({ phase: "awaiting_tools", open_calls: [{ call_id: "c1" }] });
});

test("a tool call whose arguments stop coming is given up after the deadline of silence", async () => {
  const life = await asked();
  life.call.progress();

  await life.advance(60_000);
  await life.say({ type: "failure", failure: { kind: "aborted", status: null } });

  expect(life.call.signal.aborted).toBe(true);
  expect(life.runtime.state.last_turn).toMatchObject({ status: "failed", failure: { kind: "timeout" } });
});

test("a provider that only says that it is there is not given up", async () => {
  const life = await asked();
  for (let n = 0; n < 5; n++) {
    await life.advance(50_000);
    life.call.ping();
  }
  await life.answer("after long thought");

  expect(life.calls).toHaveLength(1);
  expect(life.runtime.state.last_turn).toMatchObject({ status: "completed" });
});

test("what only said that it was there has said nothing of an answer, and is asked again", async () => {
  const life = await asked();
  life.call.ping();
  await life.advance(60_000);
  await life.say({ type: "failure", failure: { kind: "aborted", status: null } });
  await life.advance(1_000);

  expect(life.calls).toHaveLength(2);
});

test("a model that thinks may be silent for five minutes; given up after that, it is not asked the same again", async () => {
  const life = await asked(true);
  await life.advance(299_999);
  expect(life.call.signal.aborted).toBe(false);

  await life.advance(1);
  await life.say({ type: "failure", failure: { kind: "aborted", status: null } });
  await life.advance(60_000);

  expect(life.calls).toHaveLength(1);
  expect(life.runtime.state.last_turn).toMatchObject({ status: "failed", failure: { kind: "timeout" } });
});

test("a model that thinks and stops in the middle of a text is given up as any other", async () => {
  const life = await asked(true);
  await life.say({ type: "text", text: "Well" });
  await life.advance(60_000);

  expect(life.call.signal.aborted).toBe(true);
});
