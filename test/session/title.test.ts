/** Titles by an inexpensive model: beside the turns, once, and never in the view. */
import { describe, expect, test } from "vitest";
import type { ModelSpec } from "../../src/app/ports";
import type { ErasedUsage } from "../../src/domain/erased-usage";
import { id } from "../support/builders";
import { CALLER, failure, Life, type ModelCall, SPEC, settle } from "./life";

const CHEAP: ModelSpec = {
  ...SPEC,
  id: "cheap",
  max_output: 500,
  prices: { input: 0.001, cache_write: 0.001, cached: 0.001, output: 0.01 },
};
const USAGE = { input: 200, output: 10, cached: 0, reasoning: 0 };

const resolve = async (id: string): Promise<ModelSpec | null> => (id === "cheap" ? CHEAP : id === SPEC.id ? SPEC : null);

async function titled(title_model: string | null = "cheap"): Promise<Life> {
  const life = new Life();
  life.models = { resolve };
  await life.open({ preset: "oneclaw", title_model });
  return life;
}

/** Its ids come after those of the earlier lives. */
const next = (life: Life, n: number): Life => {
  let count = n * 1_000;
  const after = new Life(life.sql, `life-${n}`, (prefix) => id(prefix, ++count));
  after.models = { resolve };
  return after;
};

const titleCalls = ({ calls }: Life): ModelCall[] => calls.filter(({ request }) => request.purpose === "title");
const readTitle = async (life: Life): Promise<string | null> => {
  const described = await life.service.describe(CALLER);
  return described.ok ? described.value.title : null;
};
const readLedger = (life: Life) =>
  life.events().flatMap((event) => (event.type === "ModelCallFinished" && event.purpose === "title" ? [event] : []));

async function firstTurn(life: Life): Promise<void> {
  await life.send("Where is Ulm?");
  await life.answer("On the Danube.");
}

async function answerTitle(life: Life, text: string): Promise<void> {
  titleCalls(life).at(-1)?.say({ type: "text", text }, { type: "finish", finish: "stop", usage: USAGE });
  await settle();
}

describe("the first completed turn", () => {
  test("is followed by one short call of the cheap model, and what it says is the title", async () => {
    const life = await titled();
    await firstTurn(life);

    const [asked] = titleCalls(life);
    expect(asked?.request).toMatchObject({ purpose: "title", model: CHEAP, tools: [], maxOutput: 64, reasoning: "off" });
    expect(asked?.messages.join()).toContain("User: Where is Ulm?\n\nAssistant: On the Danube.");

    await answerTitle(life, "Finding Ulm\nIt lies on the Danube.");
    expect(await readTitle(life)).toBe("Finding Ulm");
    expect(readLedger(life)).toMatchObject([{ turn: null, model: "cheap", usage: USAGE, cost: 0.3, outcome: "stop" }]);
  });

  test("and is in the sums that outlive a session which is erased over it, once", async () => {
    const life = await titled();
    const handed: ErasedUsage[][] = [];
    life.usageArchive = {
      keep: async (_, usage) => {
        handed.push([...usage]);
        return usage;
      },
    };
    await firstTurn(life);

    await life.service.erase(CALLER);
    await answerTitle(life, "Too late");

    expect(handed.flat().filter(({ purpose }) => purpose === "title")).toMatchObject([
      { model: "cheap", calls: 1, failed: 1, unpriced: 1 },
    ]);
  });

  test.each([
    [401, 0],
    [429, 0],
    [null, undefined],
  ])("that the provider refused with status %s cost %s", async (status, cost) => {
    const life = await titled();
    await firstTurn(life);
    await titleCalls(life)[0]?.say({ type: "failure", failure: { kind: "auth", status } });
    await settle();
    expect(readLedger(life).map((call) => call.cost)).toEqual([cost]);
  });

  test("is waited for: one that failed or was stopped names nothing", async () => {
    const life = await titled();
    await life.send("Where is Ulm?");
    await life.say(failure("auth"));
    expect(titleCalls(life)).toHaveLength(0);

    await firstTurn(life);
    expect(titleCalls(life)).toHaveLength(1);
  });

  test("calls no model if the policy names none, or the session has a title", async () => {
    const unnamed = await titled(null);
    await firstTurn(unnamed);
    expect(titleCalls(unnamed)).toHaveLength(0);

    const named = await titled();
    await named.service.patch(CALLER, { title: "Mine" });
    await firstTurn(named);
    expect(titleCalls(named)).toHaveLength(0);
  });
});

describe("while the title is written", () => {
  test("the next turn begins and ends, and its request is what it would have been", async () => {
    const life = await titled();
    await firstTurn(life);
    await life.send("And Rome?");

    expect(life.call.request.purpose).toBe("turn");
    expect(life.call.messages).toEqual(["user: Where is Ulm?", "assistant: On the Danube.", "user: And Rome?"]);
    await life.answer("On the Tiber.");
    expect(life.runtime.state.last_turn?.status).toBe("completed");

    await answerTitle(life, "Two cities");
    expect(await readTitle(life)).toBe("Two cities");
    expect(titleCalls(life)).toHaveLength(1);
  });

  test("one that the user sets stands, and the call is in the ledger all the same", async () => {
    const life = await titled();
    await firstTurn(life);
    await life.service.patch(CALLER, { title: "Mine" });
    await answerTitle(life, "Theirs");

    expect(await readTitle(life)).toBe("Mine");
    expect(readLedger(life)).toHaveLength(1);
  });

  test("a session that is erased ends the call", async () => {
    const life = await titled();
    await firstTurn(life);
    await life.service.erase(CALLER);

    expect(titleCalls(life)[0]?.signal.aborted).toBe(true);
    titleCalls(life)[0]?.say(failure("aborted"));
    await settle();
    expect(readLedger(life)).toEqual([]);
  });
});

describe("a title that could not be had", () => {
  test.each([
    ["a failure", [failure("rate_limit")], "rate_limit"],
    ["an empty answer", [{ type: "finish", finish: "stop", usage: USAGE }], "stop"],
    [
      "an answer that was cut off",
      [
        { type: "text", text: "Once upon a" },
        { type: "finish", finish: "length", usage: USAGE },
      ],
      "length",
    ],
  ] as const)("by %s costs the one try", async (_, chunks, outcome) => {
    const life = await titled();
    await firstTurn(life);
    titleCalls(life)[0]?.say(...chunks);
    await settle();

    await firstTurn(life);
    await next(life, 2).service.describe(CALLER);
    expect(titleCalls(life)).toHaveLength(1);
    expect(readLedger(life)).toMatchObject([{ outcome }]);
    expect(await readTitle(life)).toBeNull();
  });

  test("for want of the model is not looked for again in this life", async () => {
    const life = await titled("gone");
    await firstTurn(life);
    await firstTurn(life);

    expect(titleCalls(life)).toHaveLength(0);
    expect(readLedger(life)).toEqual([]);
  });

  test("in time is given up", async () => {
    const life = await titled();
    await firstTurn(life);
    await life.advance(30_000);

    expect(titleCalls(life)[0]?.signal.aborted).toBe(true);
  });
});

describe("an object that dies over the call", () => {
  test("asks once more in its next life, and the ledger has both", async () => {
    const life = await titled();
    await firstTurn(life);

    const second = next(life, 2);
    await second.service.describe(CALLER);
    await settle();
    expect(titleCalls(second)).toHaveLength(1);
    await answerTitle(second, "Finding Ulm");

    expect(await readTitle(second)).toBe("Finding Ulm");
    expect(readLedger(second)).toMatchObject([{ outcome: "crashed", usage: null }, { outcome: "stop" }]);
  });

  test("and dies over the second too asks no third time", async () => {
    const life = await titled();
    await firstTurn(life);
    const second = next(life, 2);
    await second.service.describe(CALLER);
    await settle();

    const third = next(second, 3);
    await third.service.describe(CALLER);
    await firstTurn(third);

    expect(titleCalls(third)).toHaveLength(0);
    expect(readLedger(third).map(({ outcome }) => outcome)).toEqual(["crashed", "crashed"]);
    const fourth = next(third, 4);
    await fourth.service.describe(CALLER);
    expect(readLedger(fourth)).toHaveLength(2);
  });
});
