/** Providers that count wrongly: what a session makes of usage that cannot be, and that it can always go on. */
import { describe, expect, test } from "vitest";
import { measureNext } from "../../src/context/budget";
import { failure, Life, SPEC } from "./life";

async function opened(): Promise<Life> {
  const life = new Life();
  await life.open();
  return life;
}

const endings = (life: Life): string[] => life.events().flatMap(({ type }) => (/^Turn(Completed|Failed)$/.test(type) ? [type] : []));

describe("one count far above the window", () => {
  test("costs the session no message: every later one is answered, and the next count takes its place", async () => {
    const life = await opened();
    await life.send("hello 0");
    await life.answer("hi", 20_000);

    for (let n = 1; n <= 4; n++) {
      await life.send(`hello ${n}`);
      while (life.call.request.purpose === "compaction") await life.say(failure("unavailable"));
      await life.answer("hi", 30 * n);
    }

    expect(endings(life)).toEqual(Array.from({ length: 5 }, () => "TurnCompleted"));
    expect(measureNext(life.runtime.state, SPEC.id)).toEqual({ tokens: 121, source: "reported", error_bound: 0 });
  });

  test("between two tool rounds, where nothing can leave the view, is no reason not to ask", async () => {
    const life = await opened();
    await life.send("look it up");

    await life.useTool("c1", "found", 20_000);
    await life.answer("done", 60);

    expect(life.asked).toBe("tt");
    expect(endings(life)).toEqual(["TurnCompleted"]);
  });

  test("that a refusal then bears out ends the turn, after one more request", async () => {
    const life = await opened();
    await life.send("look it up");

    await life.useTool("c1", "found", 20_000);
    await life.say(failure("overflow"));

    expect(life.asked).toBe("tt");
    expect(life.runtime.state.last_turn).toMatchObject({ status: "failed", failure: { kind: "overflow" } });
  });
});
