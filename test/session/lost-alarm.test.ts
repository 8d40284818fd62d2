/** The platform drops an alarm that failed six times, as during a deployment that cannot start. The next call sets it again. */
import { expect, test } from "vitest";
import { ringAlarm } from "../../src/session/alarm";
import { CALLER, Life, settle } from "./life";

const refuse = () => Promise.reject(new Error("away"));
const away = { write: refuse, erase: refuse, forgetEndUsers: refuse };

async function opened(): Promise<Life> {
  const life = new Life();
  await life.open();
  await life.send("hello");
  return life;
}

test("a call sets the alarm of an open session again, though it changes nothing", async () => {
  const life = await opened();
  const call = { type: "tool_call", call_id: "c1", name: "look", arguments: "{}" } as const;
  await life.say({ type: "tool_call", call }, { type: "finish", finish: "tool_calls", usage: null });
  await life.advance(120_000);
  ringAlarm(life.runtime);
  await settle();
  const expires = life.runtime.jobs.get("expire_tools")?.due_at;
  const next = new Life(life.sql, "life-2");

  await next.service.describe(CALLER);
  await settle();

  expect(expires).toBeGreaterThan(0);
  expect(next.alarmAt).toBe(expires);
});

test.each([
  ["that reads", (life: Life) => life.service.describe(CALLER)],
  [
    "that opens it again",
    (life: Life) =>
      life.service.open(CALLER, { model: "test-model", policy: "oneclaw", system: null, tools: null, title: null, metadata: {} }),
  ],
])("a call %s sets the alarm of an erased session again, whose rows are still there", async (_what, call) => {
  const life = await opened();
  life.projection = away;
  await life.service.erase(CALLER);
  const next = new Life(life.sql, "life-2");

  expect(await call(next)).toMatchObject({ ok: false, error: { code: "session_erased" } });
  expect(next.alarmAt).not.toBeNull();
  await next.advance(120_000);
  ringAlarm(next.runtime);
  await settle();

  expect(next.runtime.jobs.nextDue()).toBeNull();
});
