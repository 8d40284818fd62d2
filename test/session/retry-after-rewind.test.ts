/** A turn is retried after a rewind to messages that it left: the request contains the question that it answers, whatever had hidden it. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ModelRequest } from "../../src/app/ports";
import { viewGroups } from "../../src/context/cut";
import { isAmong } from "../../src/domain/branch";
import type { ItemMeta } from "../../src/domain/message";
import { isAnswerOwed } from "../../src/domain/state";
import { itemsAt } from "../../src/session/log/session-past";
import { findMalformed } from "../simulation/request-rules";
import { drawn } from "../support/effort";
import { CALLER, failure, type Life, settle } from "./life";
import { policies, text } from "./script";
import { ask, cutOff, newLife, retry, say, trim, useTools, work } from "./talk";

const keyless = { idempotency: null } as const;
const LONG = text("one", 200);

/** Everything up to a position is summarised, and nothing after it: the question alone, without the partial answer. */
async function summarise(life: Life, upTo: number): Promise<void> {
  await ask(life, { keepRecent: 1, upTo });
  await work(life);
}

async function rewind(life: Life, to: number): Promise<void> {
  expect(await life.service.rewind(CALLER, { to, ...keyless })).toMatchObject({ ok: true });
}

async function redact(life: Life, position: number): Promise<void> {
  const message = readItem(life, position)?.id;
  if (message) expect(await life.service.redact(CALLER, message)).toMatchObject({ ok: true });
}

const readItem = (life: Life, position: number): ItemMeta | undefined => itemsAt(life.sql, [{ from: position, to: position }], [])[0];

describe("a retry behind a step back to a reply that was cut off", () => {
  test.each(policies)("asks its question, which was summarised since: %s", async (policy) => {
    const life = await newLife({ policy });
    await cutOff(life, LONG, "I think");
    await say(life, "two", "reply two");
    await summarise(life, 1);
    expect(viewGroups(life.runtime.state).map(({ from }) => from)).toEqual([2, 3, 4]);

    await rewind(life, 2);
    await retry(life, "again");

    expect(life.call.messages).toEqual([`user: ${LONG}`]);
    expect(life.runtime.state.last_turn).toMatchObject({ status: "completed" });
  });

  test("asks a question that was redacted in the place of its words", async () => {
    const life = await newLife();
    await cutOff(life, LONG, "I think");
    await say(life, "two", "reply two");
    await summarise(life, 1);

    await redact(life, 1);
    await rewind(life, 2);
    await retry(life, "again");

    expect(life.call.messages).toEqual(["user: [redacted]"]);
  });

  test("asks it with the results that a failed turn had, where the guard had dropped it since", async () => {
    const life = await newLife();
    await life.send(LONG);
    await life.useTool("call_1", "found", 100);
    await life.say(failure("auth"));
    await say(life, "two", "reply two");
    trim(life);
    expect(viewGroups(life.runtime.state).map(({ from }) => from)).not.toContain(1);

    await rewind(life, 3);
    await retry(life, "again");

    expect(life.call.messages).toEqual([`user: ${LONG}`, "assistant: tool_call", "tool: found"]);
  });

  test("is refused where nothing is left to be answered, and of an erased session", async () => {
    const life = await newLife();
    await cutOff(life, "one", "I think");
    await rewind(life, 0);
    expect(await life.service.retry(CALLER, keyless)).toMatchObject({ ok: false, error: { code: "not_retryable" } });
    await life.service.erase(CALLER, true);
    expect(await life.service.retry(CALLER, keyless)).toMatchObject({ ok: false, error: { code: "session_erased" } });
  });
});

const KINDS = ["say", "tools", "cut_off", "fail", "queue", "compact", "compact", "compact", "trim", "redact", "rewind", "switch"] as const;

interface Act {
  readonly kind: (typeof KINDS)[number] | "retry" | "back";
  readonly size: number;
}

const acts = fc.array(
  fc.record<Act>({ kind: fc.constantFrom(...KINDS, "retry", "back", "back", "back"), size: fc.integer({ min: 1, max: 120 }) }),
  { minLength: 4, maxLength: 24 },
);

async function perform(life: Life, { kind, size }: Act, n: number): Promise<unknown> {
  const { state } = life.runtime;
  const question = text(`question ${n}`, size);
  switch (kind) {
    case "say":
      return say(life, question, `reply ${n}`);
    case "tools":
      return useTools(life, question, ["found", "other"]);
    case "cut_off":
      return cutOff(life, question, "I think");
    case "fail":
      await life.send(question);
      return life.say(...(size % 2 ? [] : [{ type: "text", text: "I thi" } as const]), failure("auth"));
    case "queue":
      await life.send(question);
      await life.send(`behind ${n}`);
      await life.answer(`reply ${n}`);
      return life.answer(`reply behind ${n}`);
    case "compact":
      return state.next_position > 1 && summarise(life, 1 + (size % (state.next_position - 1)));
    case "trim":
      // The guard keeps the last user message, which is the question to be answered.
      return isAnswerOwed(state) || trim(life);
    case "redact":
      return redact(life, 1 + (size % state.next_position));
    case "rewind":
      return life.service.rewind(CALLER, { to: size % state.next_position, ...keyless });
    case "switch":
      return life.service.switchBranch(CALLER, { branch: 1 + (size % state.branch.count), ...keyless });
    case "back":
      return backAndRetry(life, size, n);
    case "retry":
      return retry(life, `again ${n}`);
  }
}

/** Rewinds to the messages of a turn that did not complete. */
async function backAndRetry(life: Life, size: number, n: number): Promise<void> {
  const all = itemsAt(life.sql, [{ from: 1, to: life.runtime.state.next_position }], []);
  const left = all.filter(({ kind, incomplete }) => incomplete || kind === "tool_result");
  const to = left[size % Math.max(1, left.length)]?.position;
  if (to === undefined) return;
  await life.service.rewind(CALLER, { to, ...keyless });
  await retry(life, `again ${n}`);
}

/** The newest user message of the continuing branch. */
function findQuestion({ runtime, sql }: Life): ItemMeta | undefined {
  const { branch, next_position } = runtime.state;
  return itemsAt(sql, [{ from: 1, to: next_position }], []).findLast(
    ({ kind, position }) => kind === "user" && !isAmong(branch.elsewhere, position),
  );
}

/** Every request can be sent, and the last one contains the question that it answers. */
function checkRequests(life: Life, requests: readonly ModelRequest[]): void {
  const asked = requests.filter(({ purpose }) => purpose === "turn");
  for (const { messages } of asked) expect(findMalformed(messages)).toBeNull();
  const question = findQuestion(life);
  const parts = question && life.runtime.content.readParts(question);
  if (asked.length > 0) expect(asked.at(-1)?.messages).toContainEqual({ role: "user", parts });
}

describe("any order of turns that fail, compactions, redactions, steps back and retries", () => {
  let retried = 0;

  test.each(policies)("sends requests that hold their question: %s", { timeout: 60_000 }, async (policy) => {
    await fc.assert(
      fc.asyncProperty(acts, async (script) => {
        const life = await newLife({ policy });
        for (const [n, act] of script.entries()) {
          const before = life.calls.length;
          await perform(life, act, n);
          await settle();
          const asked = life.calls.slice(before).map(({ request }) => request);
          checkRequests(life, asked);
          if (act.kind === "retry" || act.kind === "back") retried += asked.length;
        }
      }),
      { numRuns: drawn(60) },
    );
  });

  test("has retries in it", () => {
    expect(retried).toBeGreaterThan(drawn(60) / 3);
  });
});
