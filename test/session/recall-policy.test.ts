/** Whether `memory_query` is offered: the policy decides, and only once something is out of the view. */
import { expect, test } from "vitest";
import { RECALL_TOOL } from "../../src/context/recall-tool";
import { nearlyFull } from "./filled";
import { CALLER, type Life, settle } from "./life";

const offered = (life: Life): readonly string[] => life.call.request.tools.map(({ name }) => name);

/** A session that dropped its oldest messages for the current request. */
async function trimmed(recall: "offered" | "off"): Promise<Life> {
  const life = await nearlyFull({ preset: "oneclaw", trigger: { window_ratio: null }, summary: { form: "none" }, recall });
  await life.send("one more question ".repeat(800));
  expect(life.runtime.state.view.overlays).toMatchObject([{ kind: "dropped" }]);
  return life;
}

test("is offered from the request on that something has left, and in none before", async () => {
  const life = await nearlyFull({ preset: "oneclaw", trigger: { window_ratio: null }, summary: { form: "none" } });
  await life.send("short");
  expect(offered(life)).toEqual([]);
  await life.answer("yes", 1);
  expect(offered(await trimmed("offered"))).toEqual([RECALL_TOOL.name]);
});

test("no request names its session: what differs from session to session would cost each of them the provider's cache", async () => {
  const named = ({ call: { request } }: Life): boolean =>
    JSON.stringify([request.system, request.messages, request.tools]).includes(CALLER.session);
  expect([named(await trimmed("off")), named(await trimmed("offered"))]).toEqual([false, false]);
});

test("is never offered under a policy that says so, and is counted in no request", async () => {
  const life = await trimmed("off");
  expect(offered(life)).toEqual([]);
  expect(life.runtime.state.settings.recall).toBe(false);
});

test("a patch of the policy offers it, or no longer does, from the next request on", async () => {
  const life = await trimmed("off");
  await life.answer("done");

  await life.service.patch(CALLER, { policy: { recall: "offered" } });
  await settle();
  await life.send("and now?");
  expect(offered(life)).toEqual([RECALL_TOOL.name]);
  await life.answer("done");

  await life.service.patch(CALLER, { policy: { recall: "off" } });
  await life.send("and now?");
  expect(offered(life)).toEqual([]);
});

test("a change of the policy that says nothing of it leaves it as it was", async () => {
  const life = await trimmed("off");
  await life.answer("done");
  await life.service.patch(CALLER, { policy: { keep: { ratio: 0.2 } } });
  await life.send("and now?");
  expect(offered(life)).toEqual([]);
});
