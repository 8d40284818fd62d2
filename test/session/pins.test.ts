/** Pins that are made from messages: what a copy holds, and how it goes. */
import { describe, expect, test } from "vitest";
import type { PinInput, PinsState } from "../../src/app/control-api";
import type { SubmitInput } from "../../src/app/session-api";
import type { ImportedCall } from "../../src/app/written-message";
import { FIRST_BRANCH } from "../../src/domain/branch";
import { fold } from "../../src/domain/evolve";
import type { ItemId } from "../../src/domain/ids";
import { toSummarySources } from "../../src/domain/summary-sources";
import { id } from "../support/builders";
import { everything, findId } from "./contents";
import { CALLER, type Life, settle } from "./life";
import { buildRequestText, newLife, say, trim, useTools } from "./talk";

const APPENDED = { run: false, onBusy: "queue", tools: null, idempotency: null } as const;
const user = (text: string): SubmitInput => ({ role: "user", parts: [{ type: "text", text }], ...APPENDED });
const reply = (text: string, calls: readonly ImportedCall[]): SubmitInput => ({
  role: "assistant",
  parts: text === "" ? [] : [{ type: "text", text }],
  calls,
  ...APPENDED,
});
const call = (n: number): ImportedCall => ({ call_id: `c${n}`, name: "look", arguments: `{"n":${n}}` });
const result = (n: number, is_error = false): SubmitInput => ({
  role: "tool",
  call_id: `c${n}`,
  output: `seen ${n}`,
  is_error,
  ...APPENDED,
});

async function append(life: Life, ...messages: readonly SubmitInput[]): Promise<void> {
  for (const message of messages) {
    const accepted = await life.service.submit(CALLER, message);
    if (!accepted.ok) throw new Error(accepted.error.code);
  }
  await settle();
}

async function pin(life: Life, ...pins: readonly PinInput[]): Promise<PinsState> {
  const set = await life.service.setPins(CALLER, pins);
  if (!set.ok) throw new Error(JSON.stringify(set.error));
  return set.value;
}

async function readPins(life: Life): Promise<PinsState> {
  const shown = await life.service.pins(CALLER);
  if (!shown.ok) throw new Error(shown.error.code);
  return shown.value;
}

const texts = ({ pins }: PinsState) => pins.map(({ text }) => text);

/** The ids of all items by position. */
function readIds(life: Life): ReadonlyMap<number, ItemId> {
  const rows = life.sql.all<{ position: number; id: string }>("SELECT position, json_extract(meta, '$.id') AS id FROM items");
  return new Map(rows.map(({ position, id }) => [position, id as ItemId]));
}

/** hello; a reply with two calls at 2, 3 and 4; their results at 5 and 6; a reply of two calls alone at 7 and 8; one result at 9. */
async function talked(): Promise<Life> {
  const life = await newLife();
  await append(life, user("My dog is called Rex."), reply("Let me look.", [call(1), call(2)]), result(1), result(2, true));
  await append(life, reply("", [call(3), call(4)]), result(3));
  return life;
}

describe("a pin of a message", () => {
  const whole = [
    "Message 2, assistant: Let me look.",
    'Message 3, call of look: {"n":1}',
    'Message 4, call of look: {"n":2}',
    "Message 5, result of look: seen 1",
    "Message 6, result of look, failed: seen 2",
  ];

  test.each([
    ["a user's message", 1, ["Message 1, user: My dog is called Rex."]],
    ["a reply: with its calls and their results", 2, whole],
    ["a call inside a reply: with its result", 4, [whole[2], whole[4]]],
    ["a result: with its call", 5, [whole[1], whole[3]]],
    [
      "a call that begins its reply, whose other call has no result",
      9,
      ['Message 7, call of look: {"n":3}', "Message 9, result of look: seen 3"],
    ],
  ])("is a copy of %s", async (_, position, lines) => {
    const life = await talked();

    const byPosition = await pin(life, { position });
    const message_id = readIds(life).get(position) ?? null;

    expect(byPosition.pins).toEqual([{ text: lines.join("\n"), message_id, position }]);
    const { seq } = life.runtime.state;
    expect(await pin(life, { message_id })).toEqual(byPosition);
    expect(life.runtime.state.seq).toBe(seq);
    const request = buildRequestText(life);
    for (const line of lines) expect(request).toContain(JSON.stringify(line).slice(1, -1));
  });

  test("stays in the request when the message has left the view, and can be set again as it was read", async () => {
    const life = await newLife();
    await say(life, "My dog is called Rex.", "Noted.");
    await pin(life, "Answer in French.", { position: 1 });
    await say(life, "one", "two");
    trim(life);
    const { seq } = life.runtime.state;
    const { pins } = await readPins(life);

    expect(life.runtime.state.view.items.some(({ position }) => position === 1)).toBe(false);
    expect(buildRequestText(life)).toContain("Message 1, user: My dog is called Rex.");
    expect((await pin(life, ...pins)).pins).toEqual(pins);
    expect(life.runtime.state.seq).toBe(seq);
  });

  test.each([
    ["position", { position: 99 }, "pins.1.position"],
    ["id", { message_id: "msg_01JD8Z3V6Q4N7R2T5W9X0Y1ABC" as ItemId }, "pins.1.message_id"],
    ["call without a result", { position: 8 }, "pins.1.position"],
    ["reply with a call without a result", { position: 7 }, "pins.1.position"],
  ])("that names an unknown %s or cannot be whole is refused by its field, and changes nothing", async (_, named, field) => {
    const life = await talked();
    const before = await pin(life, "Answer in French.");

    expect(await life.service.setPins(CALLER, ["a", named])).toMatchObject({ ok: false, error: { code: "invalid", field } });
    expect(await readPins(life)).toEqual(before);
  });

  test("whose id and position do not belong together is refused", async () => {
    const life = await talked();
    const message_id = readIds(life).get(1) ?? null;

    expect(await life.service.setPins(CALLER, [{ message_id, position: 2 }])).toMatchObject({ error: { field: "pins.0.position" } });
    expect(texts(await pin(life, { message_id, position: 1, text: "other words" }))).toEqual(["Message 1, user: My dog is called Rex."]);
  });

  test("that is very long is refused, with its length", async () => {
    const life = await newLife();
    await append(life, user("猫".repeat(16_000)));

    expect(await life.service.setPins(CALLER, [{ position: 1 }])).toMatchObject({
      error: { code: "invalid", field: "pins.0.position", detail: "16017 characters with all that belongs to it: at most 16000" },
    });
  });

  test("of a branch that was left remains", async () => {
    const life = await newLife();
    await say(life, "My dog is called Rex.", "Noted.");
    await life.service.rewind(CALLER, { to: 0, idempotency: null });

    expect(texts(await pin(life, { position: 1 }))).toEqual(["Message 1, user: My dog is called Rex."]);
  });
});

describe("a redaction", () => {
  const SECRET = "hunter2";

  test.each([
    ["of the message", 1, [{ position: 1 }]],
    ["of the result of a pinned call", 5, [{ position: 3 }]],
    ["of the call of a pinned result", 3, [{ position: 5 }]],
    ["of one call of a pinned reply", 4, [{ position: 2 }]],
  ])("%s removes the pins that were made from it, and no other", async (_, position, pins) => {
    const life = await talked();
    await pin(life, "Answer in French.", ...pins);
    const named = readIds(life).get(position);
    if (!named) throw new Error("no item");

    expect((await life.service.redact(CALLER, named)).ok).toBe(true);

    expect(texts(await readPins(life))).toEqual(["Answer in French."]);
    expect(life.runtime.state).toEqual(fold(life.events()));
  });

  test("leaves its words nowhere, though the pins were changed since", async () => {
    const life = await newLife();
    await say(life, `my password is ${SECRET}`, "noted");
    await pin(life, { position: 1 });
    await pin(life, "Be brief.", { position: 1 });
    await say(life, "thanks", "you are welcome");

    await life.service.redact(CALLER, await findId(life, SECRET));
    await settle();

    expect(everything(life)).not.toContain(SECRET);
    expect(buildRequestText(life)).not.toContain(SECRET);
    expect(texts(await readPins(life))).toEqual(["Be brief."]);
    expect(await life.service.setPins(CALLER, [{ position: 1 }])).toMatchObject({
      error: { field: "pins.0.position", detail: "the message was redacted" },
    });
  });

  test("changes the etag of the pins and of the session", async () => {
    const life = await talked();
    const { etag } = await pin(life, { position: 1 });
    await life.service.redact(CALLER, await findId(life, "Rex"));
    expect((await readPins(life)).etag).not.toBe(etag);
  });
});

describe("a summary that reuses the turn's own prefix", () => {
  const plan = { range: { from: 20, to: 30 }, source: { from: 20, to: 30 }, replaces: [], merge: false } as const;
  const pins = [
    { body: id("bod", 1), bytes: 1, tokens: 1 },
    { body: id("bod", 2), bytes: 1, tokens: 1, from: [12, 14] },
  ];
  const view = { items: [], overlays: [] };

  test("has read the pins, and with them the messages that they copy", () => {
    expect(toSummarySources({ ...plan, mode: "same_prefix" }, { view, pins, branch: FIRST_BRANCH }).ranges).toEqual([
      { from: 12, to: 12 },
      { from: 14, to: 14 },
      { from: 20, to: 30 },
    ]);
    expect(toSummarySources({ ...plan, mode: "transcript" }, { view, pins, branch: FIRST_BRANCH }).ranges).toEqual([{ from: 20, to: 30 }]);
  });
});

describe("pins under a condition", () => {
  test("of two that read the same pins, the second changes nothing", async () => {
    const life = await newLife();
    const { etag } = await pin(life, "one");
    const condition = { match: [etag], none_match: null };

    const both = await Promise.all([life.service.setPins(CALLER, ["two"], condition), life.service.setPins(CALLER, ["three"], condition)]);

    expect(both.map(({ ok }) => ok).sort()).toEqual([false, true]);
    const now = await readPins(life);
    expect(both.find(({ ok }) => !ok)).toEqual({ ok: false, error: { code: "precondition_failed", etag: now.etag } });
  });

  test("are not changed by a message or a title", async () => {
    const life = await newLife();
    const { etag } = await pin(life, "one");
    await say(life, "hello", "hi");
    await life.service.patch(CALLER, { title: "Work" });
    expect((await readPins(life)).etag).toBe(etag);
  });
});

describe("a turn's own message", () => {
  test("can be pinned while its calls are open, and its calls when they are answered", async () => {
    const life = await newLife();
    await useTools(life, "look", ["found it"]);
    expect(texts(await pin(life, { position: 3 }))).toEqual(["Message 2, call of look_up: {}\nMessage 3, result of look_up: found it"]);
  });
});
