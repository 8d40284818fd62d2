/** Results of client tools that answer no open call are refused, with the state of the call that they name. */
import { expect, test } from "vitest";
import type { ToolResultInput } from "../../src/app/session-api";
import type { ExecutionId } from "../../src/domain/ids";
import { id } from "../support/builders";
import { CALLER, Life, settle } from "./life";

/** A turn that waits for the results of two calls. Returns their execution ids. */
async function waiting(): Promise<{ life: Life; executions: ExecutionId[] }> {
  const life = new Life();
  await life.open();
  await life.send("look twice");
  const call = (call_id: string) => ({ type: "tool_call", call: { type: "tool_call", call_id, name: "look", arguments: "{}" } }) as const;
  await life.say(call("call_0"), call("call_1"), { type: "finish", finish: "tool_calls", usage: null });
  return { life, executions: (life.runtime.state.turn?.open_calls ?? []).map(({ execution }) => execution) };
}

const result = (change: Partial<ToolResultInput>): ToolResultInput => ({
  execution_id: null,
  call_id: null,
  output: "x",
  is_error: false,
  ...change,
});

async function give(life: Life, ...results: ToolResultInput[]) {
  const given = await life.service.toolResults(CALLER, { results, idempotency: null });
  await settle();
  return given;
}

test("two ids that mean different calls are refused at the field, and nothing is recorded", async () => {
  const { life, executions } = await waiting();
  const contradictory = result({ execution_id: executions[0] ?? null, call_id: "call_1" });

  const given = await give(life, result({ call_id: "call_0" }), contradictory);

  expect(given).toMatchObject({ ok: false, error: { code: "invalid", field: "results.1.call_id" } });
  expect(life.runtime.state.turn?.open_calls).toHaveLength(2);
});

test("two ids that mean the same call are taken", async () => {
  const { life, executions } = await waiting();
  expect(await give(life, result({ execution_id: executions[1] ?? null, call_id: "call_1" }))).toMatchObject({ ok: true });
});

test("a call that is not open: what became of it", async () => {
  const { life, executions } = await waiting();
  const [first = null, second = null] = executions;
  await give(life, result({ execution_id: first }));

  expect(await give(life, result({ execution_id: first }))).toMatchObject({ ok: false, error: { became: "answered" } });
  expect(await give(life, result({ execution_id: id("exe", 99) }))).toMatchObject({ ok: false, error: { became: "unknown" } });
  const twice = await give(life, result({ execution_id: second }), result({ call_id: "call_1" }));
  expect(twice).toMatchObject({ ok: false, error: { index: 1, became: "answered_here" } });
  await life.service.stop(CALLER, { idempotency: null });
  expect(await give(life, result({ call_id: "call_1" }))).toMatchObject({ ok: false, error: { became: "cancelled" } });
});

test("nothing to retry before a turn has ended", async () => {
  const life = new Life();
  await life.open();
  expect(await life.service.retry(CALLER, { idempotency: null })).toEqual({ ok: false, error: { code: "not_retryable", status: null } });
});
