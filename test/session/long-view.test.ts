/** The first look-up and the first turn of a long record yield to other requests. */
import { expect, test } from "vitest";
import { LONG_VIEW } from "../../src/app/turn/make-room";
import { CALLER, Life, settle } from "./life";

const MESSAGES = LONG_VIEW + 500;

async function imported(): Promise<Life> {
  const life = new Life();
  await life.open("balanced");
  for (let n = 0; n < MESSAGES; n++) {
    const parts = [{ type: "text", text: `message ${n} of the ships that came into the harbour` }] as const;
    const said = { role: "user", parts, run: false, onBusy: "queue", tools: null, idempotency: null } as const;
    const appended = await life.service.submit(CALLER, said);
    if (!appended.ok) throw new Error(appended.error.code);
  }
  await settle();
  return life;
}

/** Calls the session at each step until the work is done. Returns how many of these calls were answered before it. */
async function answeredMeanwhile(life: Life, isDone: () => boolean): Promise<number> {
  let answered = 0;
  for (let step = 0; !isDone(); step++) {
    if (step > 1_000) throw new Error("it is never done");
    const described = await life.service.describe(CALLER);
    if (described.ok && !isDone()) answered += 1;
    await life.advance(0);
  }
  return answered;
}

test("the first look-up indexes page by page, and other requests are answered between the pages", async () => {
  const life = await imported();
  let isDone = false;
  const query = { query: "harbour 77", execution: null, from: null, to: null, offset: 0, limit: 5 };
  const found = life.service.recall(CALLER, query).finally(() => {
    isDone = true;
  });

  expect(await answeredMeanwhile(life, () => isDone)).toBeGreaterThanOrEqual(Math.floor(MESSAGES / 256));
  expect(await found).toMatchObject({ ok: true });
});

test("the first turn plans and makes room step by step, and other requests are answered between the steps", async () => {
  const life = await imported();
  const summary = "## Goal\nShips.\n";
  await life.send("what came in?");

  const answered = await answeredMeanwhile(life, () => {
    const { call } = life.calls.length > 0 ? life : { call: null };
    if (call?.request.purpose === "compaction") call.say({ type: "text", text: summary }, { type: "finish", finish: "stop", usage: null });
    return call?.request.purpose === "turn";
  });

  expect(answered).toBeGreaterThanOrEqual(3);
  await life.answer("a barge");
  expect(life.runtime.state.last_turn?.status).toBe("completed");
});
