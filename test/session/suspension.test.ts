/** A tenant that is suspended while its session talks: no model is asked any more, and nothing that was said is lost. */
import { describe, expect, test } from "vitest";
import { CALLER, Life, settle } from "./life";

async function openLife(): Promise<Life> {
  const life = new Life();
  await life.open();
  return life;
}

const texts = async (life: Life): Promise<unknown> => {
  const items = await life.service.items(CALLER, { after: null, limit: 20, order: "asc" });
  return items.ok && items.value.data.map(({ content }) => content.map((part) => ("text" in part ? part.text : part.type)).join(""));
};

describe("a turn of a suspended tenant", () => {
  test("asks no model, fails as suspended, and keeps the message", async () => {
    const life = await openLife();
    life.isSuspended = true;

    await life.send("hello");

    expect(life.calls).toHaveLength(0);
    expect(life.runtime.state.last_turn).toMatchObject({ status: "failed", failure: { kind: "suspended" } });
    expect(await texts(life)).toEqual(["hello"]);
  });

  test("that runs already ends within ten seconds, with what was said, and its call is aborted", async () => {
    const life = await openLife();
    await life.send("tell me");
    life.call.say({ type: "text", text: "Once" });
    await settle();
    life.isSuspended = true;

    life.time.advance(10_000);
    await settle();

    expect(life.call.signal.aborted).toBe(true);
    expect(life.runtime.state.turn).toBeNull();
    expect(life.runtime.state.last_turn).toMatchObject({ status: "failed", failure: { kind: "suspended" } });
    expect(await texts(life)).toEqual(["tell me", "Once"]);
  });

  test("lets no waiting message ask a model, and loses none", async () => {
    const life = await openLife();
    await life.send("first");
    await life.send("second");
    life.isSuspended = true;

    life.time.advance(10_000);
    await settle();

    expect(life.calls).toHaveLength(1);
    expect([life.runtime.state.turn, life.runtime.state.queue]).toEqual([null, []]);
    expect(await texts(life)).toEqual(["first", "second"]);
  });

  test("is retried once the tenant is served again", async () => {
    const life = await openLife();
    life.isSuspended = true;
    await life.send("hello");
    life.isSuspended = false;

    expect(await life.service.retry(CALLER, { idempotency: null })).toMatchObject({ ok: true });
    await settle();
    await life.answer("hi");

    expect(life.runtime.state.last_turn?.status).toBe("completed");
    expect(await texts(life)).toEqual(["hello", "hi"]);
  });

  test("that is served stays open however often it is looked at", async () => {
    const life = await openLife();
    await life.send("tell me");

    for (let n = 0; n < 4; n++) {
      life.time.advance(10_000);
      life.call.say({ type: "text", text: "." });
      await settle();
    }

    expect(life.runtime.state.turn?.phase).toBe("generating");
  });
});
