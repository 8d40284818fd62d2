/** The differences between two requests: messages, summaries and settings, as they were shown. */
import { describe, expect, test } from "vitest";
import type { RequestRef } from "../../src/app/past-api";
import { MAX_LISTED } from "../../src/context/view-diff";
import type { ContextDiff } from "../../src/contract/context";
import type { TurnId } from "../../src/domain/ids";
import { CALLER, type Life, settle } from "./life";
import { text } from "./script";
import { listTurns, watched } from "./sent";
import { append, compact, newest, newLife, ROOMY, revert, say, useTools } from "./talk";

const NEXT: RequestRef = { turn: null, call: null };
const at = (turn: TurnId | undefined, call: number | null = null): RequestRef => ({ turn: turn ?? null, call });

async function diff(life: Life, from: RequestRef, to: RequestRef): Promise<ContextDiff> {
  const compared = await life.service.contextDiff(CALLER, { from, to });
  if (!compared.ok) throw new Error(compared.error.code);
  return compared.value;
}

async function talked(turns: number, words = 20, policy = "oneclaw"): Promise<Life> {
  const life = watched(await newLife({ system: "Be brief.", policy }));
  for (let n = 1; n <= turns; n++) await say(life, text(`question ${n}`, words), text(`reply ${n}`, words));
  return life;
}

const positions = ({ data }: ContextDiff["came"]): number[] => data.map(({ position }) => position);
const unchanged = { model: false, policy: false, system: false, tools: false, pins: false };

describe("two requests of one epoch", () => {
  test("have a common beginning: the first is the prefix of the second, and later messages were added", async () => {
    const life = await talked(3);
    const [first, , third] = listTurns(life);

    const compared = await diff(life, at(first), at(third));

    expect(compared).toMatchObject({ changed: unchanged, left: { count: 0 }, less: { count: 0 }, more: { count: 0 }, epochs: [] });
    expect(compared.prefix).toEqual({ messages: 1, tokens: compared.from.tokens });
    expect(compared.both.count).toBe(1);
    expect(positions(compared.came)).toEqual([2, 3, 4, 5]);
    expect(compared.came.data[0]).toMatchObject({ id: expect.stringMatching(/^msg_/), kind: "assistant", tokens: expect.any(Number) });
    expect(compared.from).toMatchObject({ turn_id: first, call: 1, epoch: 0, model: "test-model" });
    expect(compared.to.tokens).toBeGreaterThan(compared.from.tokens);
  });

  test("that are one and the same differ in nothing", async () => {
    const life = await talked(2);

    const compared = await diff(life, NEXT, NEXT);

    expect(compared).toMatchObject({ left: { count: 0, data: [] }, came: { count: 0, data: [] }, both: { count: 4 } });
    expect(compared.prefix).toEqual({ messages: 4, tokens: compared.to.tokens });
    expect(compared.to).toMatchObject({ turn_id: null, call: null, seq: life.runtime.state.seq });
  });

  test("the other way round swap what left and what came", async () => {
    const life = await talked(3);
    const [first] = listTurns(life);

    const [there, back] = [await diff(life, at(first), NEXT), await diff(life, NEXT, at(first))];

    expect(back.left.data.map(({ id }) => id)).toEqual(there.came.data.map(({ id }) => id));
    expect([back.came.count, back.prefix.messages]).toEqual([0, there.prefix.messages]);
  });
});

describe("a compaction between two requests", () => {
  test("is named with the summary that it made and what left for it; of the prefix only the system prompt stays", async () => {
    const life = await talked(6);
    const last = listTurns(life).at(-1);
    await compact(life, 100);
    const made = newest(life);
    await say(life, "question 7", "reply 7");

    const compared = await diff(life, at(last), at(listTurns(life).at(-1)));

    const [overlay] = life.runtime.state.view.overlays;
    expect(compared.summaries).toMatchObject({
      left: { count: 0 },
      came: { count: 1, data: [{ id: overlay?.id, kind: "summary", from: overlay?.from, to: overlay?.to, by: made }] },
    });
    expect(compared.epochs).toMatchObject([{ epoch: 1, trigger: "manual", compaction_id: made }]);
    expect(positions(compared.left)).toEqual(Array.from({ length: overlay?.to ?? 0 }, (_, index) => index + 1));
    expect(compared.left.count + compared.both.count).toBe(11);
    expect(compared.prefix.messages).toBe(0);
  });

  test("that was taken back is named as what ended its summary, whichever is compared with which", async () => {
    const life = await talked(6);
    await compact(life, 100);
    await say(life, "question 7", "reply 7");
    const covered = listTurns(life).at(-1);
    await revert(life);
    const [, reverted] = life.events().flatMap((event) => (event.type === "EpochChanged" ? [event.compaction] : []));

    const [there, back] = [await diff(life, at(covered), NEXT), await diff(life, NEXT, at(covered))];

    expect(there.summaries).toMatchObject({ left: { data: [{ by: reverted }] }, came: { count: 0 } });
    expect(back.summaries).toMatchObject({ left: { count: 0 }, came: { data: [{ by: reverted }] } });
    expect(there.came.count).toBeGreaterThan(0);
  });
});

describe("what is shown otherwise", () => {
  test("is listed as less with how it is shown, and as more the other way round", async () => {
    const life = await talked(1, 20, '{"preset":"odincode","recall":"off"}');
    for (let n = 0; n < 6; n++) await useTools(life, `look ${n}`, [text(`found ${n}`, 80)]);
    const [, first] = listTurns(life);
    const result = life.runtime.state.view.items.find(({ kind }) => kind === "tool_result");

    const [there, back] = [await diff(life, at(first), NEXT), await diff(life, NEXT, at(first))];

    const known = { id: result?.id, position: result?.position, kind: "tool_result" };
    expect(there.less).toMatchObject({ count: 1, data: [{ ...known, shown: "cleared", was: { shown: "whole" } }] });
    expect(back.more).toMatchObject({ count: 1, data: [{ ...known, shown: "whole", was: { shown: "cleared" } }] });
    expect([there.more.count, back.less.count]).toEqual([0, 0]);
    expect(there.less.tokens).toBeLessThan(there.less.data[0]?.was.tokens ?? 0);
    expect(there.prefix.messages).toBe(4);
  });
});

describe("settings that changed between two requests", () => {
  test.each([
    ["system", { system: "Be long." }, 0],
    ["tools", { tools: [{ name: "look", parameters: { type: "object" } }] }, 0],
    ["policy", { policy: { recall: "off" } }, 2],
    ["model", { model: "other" }, 2],
  ] as const)("of the %s are named, and say how much stays alike", async (what, change, alike) => {
    const life = await talked(1);
    life.models = { resolve: async (asked) => ({ ...ROOMY, id: asked }) };
    await say(life, "question 2", "reply 2");
    const last = listTurns(life).at(-1);
    await life.service.patch(CALLER, change);

    const compared = await diff(life, at(last), NEXT);

    expect(compared.changed).toEqual({ ...unchanged, [what]: true });
    expect(compared.prefix.messages).toBe(alike === 0 ? 0 : 3);
    expect(compared.both.count).toBe(3);
  });

  test("to the same text again are no change", async () => {
    const life = await talked(1);
    const last = listTurns(life).at(-1);
    await life.service.patch(CALLER, { system: "Be brief." });
    await settle();

    expect((await diff(life, at(last), NEXT)).changed).toEqual(unchanged);
  });

  test("of the pins are named", async () => {
    const life = await talked(1);
    await life.service.setPins(CALLER, ["Her name is Ada."]);

    expect((await diff(life, at(listTurns(life)[0]), NEXT)).changed).toEqual({ ...unchanged, pins: true });
  });
});

test("a long list is cut to its newest entries; its count and weight are not", async () => {
  const life = await talked(1);
  for (let n = 0; n < MAX_LISTED + 20; n++) await append(life, "user", [{ type: "text", text: `note ${n}` }]);

  const { came } = await diff(life, at(listTurns(life)[0]), NEXT);

  expect([came.count, came.data.length]).toEqual([MAX_LISTED + 21, MAX_LISTED]);
  expect(positions(came).at(-1)).toBe(MAX_LISTED + 22);
  expect(came.tokens).toBeGreaterThan(came.data.reduce((sum, { tokens }) => sum + tokens, 0));
});

test("a turn that is unknown, or has called no model, is refused", async () => {
  const life = await talked(1);
  await life.send("hello?");
  const [first, waiting] = listTurns(life);

  expect(await life.service.contextDiff(CALLER, { from: at(first, 7), to: NEXT })).toMatchObject({ error: { code: "request_not_found" } });
  expect(await life.service.contextDiff(CALLER, { from: NEXT, to: at(waiting) })).toMatchObject({ error: { code: "request_not_found" } });
});
