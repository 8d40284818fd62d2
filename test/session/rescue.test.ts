/** The provider refuses a request as too long that fitted by our estimate. */
import { describe, expect, test } from "vitest";
import type { PolicyChoice } from "../../src/context/policy-choice";
import { talk } from "./filled";
import { failure, Life, SPEC } from "./life";

async function asking(policy: PolicyChoice = "oneclaw"): Promise<Life> {
  const life = new Life();
  await life.open(policy);
  await talk(life, 4);
  await life.send("what now?");
  return life;
}

const overflow = failure("overflow");
const lastTurn = (life: Life) => life.runtime.state.last_turn;

describe("a refusal as too long", () => {
  test("is answered by a summary that leaves a fifth of the window, and the same turn asks again", async () => {
    const life = await asking();

    await life.say(overflow);
    expect(life.call.request.purpose).toBe("compaction");
    await life.summarize("They exchanged words.");

    expect(life.asked).toBe("tttttct");
    expect(life.call.messages.at(-1)).toBe("user: what now?");
    await life.answer("this", 1_500);
    expect(lastTurn(life)).toMatchObject({ status: "completed" });
    expect(life.events().filter((event) => event.type === "TurnStarted")).toHaveLength(5);
    expect(life.events()).toContainEqual(expect.objectContaining({ type: "EpochChanged", trigger: "overflow" }));
    expect(life.events().filter((event) => event.type === "ModelCallFinished" && event.outcome === "overflow")).toHaveLength(1);
  });

  test("leaves a fifth of the window that the provider reports, and is read within that", async () => {
    const life = await asking();

    await life.say({ type: "failure", failure: { kind: "overflow", status: 400, limit: 2_500 } });
    const parts = [life.call];
    while (life.call.request.purpose === "compaction") {
      await life.summarize("They exchanged words.");
      parts.push(life.call);
    }

    expect(parts.length).toBeGreaterThan(2);
    for (const { messages, request } of parts) expect(messages.join().length / 6 + (request.maxOutput ?? 0)).toBeLessThan(2_500);
    expect(life.call.messages.join()).not.toContain("question-4 ");
    expect(life.runtime.knownModel.lastKnown(SPEC.id)?.context_window).toBe(8_000);
  });

  test("with a number far below what the model has read before keeps a fifth of the window; refused again, it is believed", async () => {
    const life = await asking({ preset: "oneclaw", summary: { form: "none" } });
    const refusal = { type: "failure", failure: { kind: "overflow", status: 400, limit: 600 } } as const;

    await life.say(refusal);
    const once = life.call.messages.join().length;
    expect(once / 6).toBeGreaterThan(900);
    await life.say(refusal);

    expect(life.asked).toBe("ttttttt");
    expect(life.call.messages.join().length).toBeLessThan(once / 2);
  });

  test("gives the window if it was unknown; without a number nothing is learned", async () => {
    for (const [limit, asked] of [
      [2_500, "tttttt"],
      [undefined, "ttttt"],
    ] as const) {
      const life = new Life();
      life.models = { resolve: async () => ({ ...SPEC, context_window: null }) };
      await life.open({ preset: "oneclaw", unknown_window: null, summary: { form: "none" } });
      await talk(life, 4);
      await life.send("what now?");

      await life.say({ type: "failure", failure: { kind: "overflow", status: 400, ...(limit === undefined ? {} : { limit }) } });
      expect(life.asked).toBe(asked);
    }
  });

  test("twice is answered twice, and the third is the end, with what it weighs and what should have fitted", async () => {
    const life = await asking();

    await life.say(overflow);
    await life.summarize("They exchanged words.");
    await life.say(overflow);
    await life.summarize("Words.");
    await life.say(overflow);

    expect(life.asked).toBe("tttttctct");
    expect(lastTurn(life)).toMatchObject({
      status: "failed",
      failure: { kind: "overflow", fit: { floor: expect.any(Number), limit: 7_500, biggest: expect.anything() } },
    });
  });

  test("is answered by dropping when no summary can be had", async () => {
    const life = await asking();

    await life.say(overflow);
    await life.say(failure("unavailable"));
    await life.say(failure("unavailable"));

    expect(life.asked).toBe("tttttcct");
    expect(life.runtime.state.view.overlays).toMatchObject([{ kind: "dropped" }]);
    expect(life.call.messages.at(-1)).toBe("user: what now?");
  });

  test("is answered by dropping at once where the policy asks for no summary", async () => {
    const life = await asking({ preset: "oneclaw", summary: { form: "none" } });

    await life.say(overflow);

    expect(life.asked).toBe("tttttt");
    expect(life.runtime.state.view.overlays).toMatchObject([{ kind: "dropped" }]);
  });

  test("keeps the question of a long turn, though everything around it goes", async () => {
    const life = new Life();
    await life.open({ preset: "oneclaw", summary: { form: "none" } });
    await life.send("What is the sum?");
    for (let n = 1; n <= 5; n++) await life.useTool(`c${n}`, "word ".repeat(900), 1_000 * n);

    await life.say(overflow);

    expect(life.call.messages[0]).toBe("user: What is the sum?");
    expect(life.call.messages.length).toBeLessThan(11);
  });

  test.each([
    ["some of the answer was heard", { type: "text", text: "Well, " } as const],
    ["some of its reasoning was", { type: "reasoning", text: "Hm" } as const],
    ["a tool call was made", { type: "tool_call", call: { type: "tool_call", call_id: "c", name: "pay", arguments: "{}" } } as const],
  ])("is the end when %s", async (_, chunk) => {
    const life = await asking();

    await life.say(chunk, overflow);

    expect(life.asked).toBe("ttttt");
    expect(lastTurn(life)).toMatchObject({ status: "failed", failure: { kind: "overflow" } });
  });

  test("ends the turn when nothing can leave, and no summary of nothing is requested", async () => {
    const life = new Life();
    await life.open();
    await life.send("first");

    await life.say(overflow);

    expect(life.asked).toBe("t");
    expect(lastTurn(life)).toMatchObject({ status: "failed", failure: { kind: "overflow", fit: { limit: 7_500 } } });
  });
});
