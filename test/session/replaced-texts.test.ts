/** Replaced texts: one that no request contained is deleted at once, the others with a redaction. */
import { describe, expect, test } from "vitest";
import { everything, findId } from "./contents";
import { CALLER, type Life, settle } from "./life";
import { newLife, say } from "./talk";

const holds = (life: Life, text: string): boolean => everything(life).includes(text);

describe("what no request was ever built from", () => {
  test("a replaced title and replaced metadata leave the object, and the present ones stay", async () => {
    const life = await newLife();
    await life.service.patch(CALLER, { title: "first title", metadata: { note: "first note" } });
    await life.service.patch(CALLER, { title: "second title", metadata: { note: "second note" } });

    expect([holds(life, "first title"), holds(life, "first note")]).toEqual([false, false]);
    expect([holds(life, "second title"), holds(life, "second note")]).toEqual([true, true]);
    await life.service.patch(CALLER, { title: null, metadata: {} });
    expect([holds(life, "second title"), holds(life, "second note")]).toEqual([false, false]);
  });

  test("a message that was cancelled while it waited leaves the object, and what else waits stays", async () => {
    const life = await newLife();
    await life.send("the running one");
    await life.send("the cancelled one");
    await life.send("the waiting one");
    const waiting = life.runtime.state.queue[0]?.item.id;
    if (!waiting) throw new Error("nothing waits");

    await life.service.cancelQueued(CALLER, waiting);

    expect(holds(life, "the cancelled one")).toBe(false);
    expect(holds(life, "the waiting one")).toBe(true);
    await life.answer("done");
    expect(life.call.messages.at(-1)).toBe("user: the waiting one");
  });
});

describe("replaced system prompts and pins", () => {
  async function replaced(): Promise<{ readonly life: Life; readonly turn: string }> {
    const life = await newLife({ system: "the first prompt" });
    life.toBody = (request) => JSON.stringify(request);
    await life.service.setPins(CALLER, ["the first pin"]);
    await say(life, "my password is hunter2", "noted");
    const turn = life.runtime.state.last_turn?.id ?? "";
    await life.service.patch(CALLER, { system: "the second prompt" });
    await life.service.setPins(CALLER, ["the second pin"]);
    await settle();
    return { life, turn };
  }

  test("stay as long as past requests are rebuilt from them", async () => {
    const { life, turn } = await replaced();

    const past = await life.service.contextAt(CALLER, { turn: turn as never, call: null });

    expect(past).toMatchObject({ ok: true, value: { digest: { matches: true } } });
    expect(holds(life, "the first pin")).toBe(true);
  });

  test("go with a redaction, and the past request says that something of it is redacted", async () => {
    const { life, turn } = await replaced();
    life.digest = async (text) => `${text.length}`;

    await life.service.redact(CALLER, await findId(life, "hunter2"));

    expect([holds(life, "the first prompt"), holds(life, "the first pin")]).toEqual([false, false]);
    expect([holds(life, "the second prompt"), holds(life, "the second pin")]).toEqual([true, true]);
    const past = await life.service.contextAt(CALLER, { turn: turn as never, call: null });
    expect(past).toMatchObject({ ok: true, value: { digest: { matches: false, reason: "redacted" } } });
  });
});
