/** What a turn's deadlines take for a sign of life: whatever the provider writes, also what makes no chunk yet. */
import { expect, test } from "vitest";
import { Life } from "./life";

async function asked(): Promise<Life> {
  const life = new Life();
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
