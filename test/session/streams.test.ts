/** What a reader of the live stream receives after evictions, lost frames and an erasure. */
import { describe, expect, test } from "vitest";
import { createNodeSql } from "../../scripts/support/node-sql";
import type { Accepted } from "../../src/contract/item";
import type { TurnId } from "../../src/domain/ids";
import { countingIds } from "../support/builders";
import { CALLER, Life, settle } from "./life";
import { newLife, say, trim } from "./talk";

const MESSAGE = { role: "user", parts: [{ type: "text", text: "hello" }], run: true, onBusy: "queue", tools: null } as const;

/** A session after one turn, in a later life of its object. */
async function secondLife(): Promise<Life> {
  const [sql, ids] = [createNodeSql(), countingIds()];
  const first = new Life(sql, "life-1", ids);
  await first.open();
  await first.send("before");
  await first.answer("the past");
  return new Life(sql, "life-2", ids);
}

async function submit(life: Life, key: string | null = null): Promise<Accepted> {
  const idempotency = key ? { key, digest: "same" } : null;
  const accepted = await life.service.submit(CALLER, { ...MESSAGE, idempotency });
  if (!accepted.ok) throw new Error(accepted.error.code);
  await settle();
  return accepted.value;
}

interface Heard {
  readonly types: string[];
  readonly data: Record<string, unknown>[];
  readonly offsets: number[];
  ended: boolean;
}

/** Listens, and records frames until the stream ends. */
async function listen(life: Life, input: { after: number | null; turn: TurnId | null; of?: "frames" | "events" }): Promise<Heard> {
  const opened = await life.service.stream(CALLER, input);
  if (!opened.ok) throw new Error(opened.error.code);
  const heard: Heard = { types: [], data: [], offsets: [], ended: false };
  const decoder = new TextDecoder();
  const read = async (): Promise<void> => {
    for await (const bytes of opened.value) {
      const text = decoder.decode(bytes);
      heard.types.push(...[...text.matchAll(/^event: (.*)$/gm)].map(([, type = ""]) => type));
      heard.data.push(...[...text.matchAll(/^data: (.*)$/gm)].map(([, json = ""]) => JSON.parse(json)));
      heard.offsets.push(...[...text.matchAll(/^id: (\d+)$/gm)].map(([, id = ""]) => Number(id)));
    }
    heard.ended = true;
  };
  void read();
  await settle();
  return heard;
}

const WHOLE = ["message.accepted", "turn.started", "text.delta", "usage.updated", "item.completed", "turn.completed"];

describe("what the user said", () => {
  const said = ({ data }: Heard) => data.filter(({ type }) => type === "message.accepted").map(({ role, content }) => ({ role, content }));
  const user = (text: string) => ({ role: "user", content: [{ type: "text", text }] });
  const whole = (life: Life) => listen(life, { after: 0, turn: null });

  test("comes with the session's stream, and stands in no stored frame", async () => {
    const life = await secondLife();
    await life.send("What is a coot?");
    await life.send("And a grebe?");

    expect(said(await whole(life))).toEqual([user("before"), user("What is a coot?"), user("And a grebe?")]);
    await life.answer("A bird.");
    await life.answer("A bird, too.");
    expect(said(await whole(life))).toEqual([user("before"), user("What is a coot?"), user("And a grebe?")]);
    expect(JSON.stringify(life.sql.all("SELECT * FROM frames"))).not.toMatch(/coot|grebe/);
  });

  test("is not repeated to who reads the turn that it began", async () => {
    const life = await secondLife();
    const { turn_id, cursor } = await submit(life);
    const { data } = await listen(life, { after: cursor, turn: turn_id });
    expect(data[0]).toEqual({ type: "message.accepted", message_id: expect.any(String), turn_id, position: 3, queued: false });
  });

  test("is gone from the stream with its redaction, and with a message that is taken back", async () => {
    const life = await secondLife();
    const [item] = life.runtime.state.view.items;
    if (!item) throw new Error("nothing was said");
    await life.service.redact(CALLER, item.id);
    await life.send("running");
    const waiting = await submit(life);
    await life.service.cancelQueued(CALLER, waiting.message_id);
    expect(said(await whole(life))).toEqual([user("running"), { role: undefined, content: undefined }]);
  });

  test("ends a step of reading when it is long, and comes without its content where no frame could hold it", async () => {
    const life = await secondLife();
    const long = "\u0416".repeat(600_000);
    await life.service.submit(CALLER, { ...MESSAGE, run: false, parts: [{ type: "text", text: long }], idempotency: null });
    for (let n = 0; n < 6; n++) {
      const parts = [{ type: "text", text: "word ".repeat(80_000) }] as const;
      await life.service.submit(CALLER, { ...MESSAGE, run: false, parts, idempotency: null });
    }
    await settle();
    const opened = await life.service.stream(CALLER, { after: 0, turn: null });
    if (!opened.ok) throw new Error(opened.error.code);
    const sizes: number[] = [];
    const reader = opened.value.getReader();
    for (let n = 0; n < 2; n++) sizes.push((await reader.read()).value?.byteLength ?? 0);
    await reader.cancel();
    expect(Math.max(...sizes)).toBeLessThan(2_000_000);
    expect(sizes.every((size) => size > 0)).toBe(true);
    expect((await whole(life)).data).toContainEqual(expect.objectContaining({ content: [], content_omitted: true }));
  });
});

describe("after an eviction", () => {
  test("the first answer is received once, from its acceptance on, while the turn runs", async () => {
    const life = await secondLife();
    const { turn_id, cursor } = await submit(life);
    const heard = await listen(life, { after: cursor, turn: turn_id });
    await life.answer("hi");
    await settle();
    expect(heard).toMatchObject({ types: WHOLE, ended: true });
  });

  test("the same when the turn is over before a reader arrives, and again for the same key", async () => {
    const life = await secondLife();
    await submit(life, "k");
    await life.answer("hi");
    const { turn_id, cursor, replayed } = await submit(life, "k");
    expect(replayed).toBe(true);
    expect(await listen(life, { after: cursor, turn: turn_id })).toMatchObject({ types: WHOLE, ended: true });
  });
});

/** The frames of the turn in `live` for a reader who arrives after the originals are gone. */
async function toldAgain(live: (life: Life) => Promise<Accepted>, from: () => Promise<Life> = secondLife): Promise<Heard> {
  const life = await from();
  const { turn_id, cursor } = await live(life);
  life.sql.all("DELETE FROM frames");
  return listen(new Life(life.sql, "life-3"), { after: cursor, turn: turn_id });
}

async function firstLife(): Promise<Life> {
  const life = new Life();
  await life.open();
  return life;
}

describe("a turn that waited for its tools, replayed from its stored frames", () => {
  const finish = { type: "finish", finish: "tool_calls", usage: null } as const;
  const ask = (life: Life, call_id: string) =>
    life.say({ type: "tool_call", call: { type: "tool_call", call_id, name: "look", arguments: "{}" } }, finish);
  const give = async (life: Life, call_id: string, key: string) => {
    const results = [{ execution_id: null, call_id, output: "seen", is_error: false }];
    const given = await life.service.toolResults(CALLER, { results, idempotency: { key, digest: key } });
    await settle();
    if (!given.ok) throw new Error(given.error.code);
    return given.value;
  };

  test("is streamed to its end to a client that repeats its message, although it waited in between", async () => {
    const life = await firstLife();
    await submit(life, "k");
    await ask(life, "c1");
    await give(life, "c1", "r1");
    await life.answer("there it is");

    const { turn_id, cursor, replayed } = await submit(life, "k");
    expect(replayed).toBe(true);
    const heard = await listen(life, { after: cursor, turn: turn_id });
    expect(heard.ended).toBe(true);
    expect(heard.types).toContain("turn.awaiting_tools");
    expect(heard.types.at(-1)).toBe("turn.completed");
  });

  test("is streamed to where it waits now, and then the stream ends", async () => {
    const life = await firstLife();
    await submit(life, "k");
    await ask(life, "c1");
    await give(life, "c1", "r1");
    await ask(life, "c2");

    const { turn_id, cursor } = await submit(life, "k");
    const heard = await listen(life, { after: cursor, turn: turn_id });
    expect(heard.ended).toBe(true);
    expect(heard.types.filter((type) => type === "turn.awaiting_tools")).toHaveLength(2);
    expect(heard.types.at(-1)).toBe("turn.awaiting_tools");
  });

  test("is streamed from its results on when those are sent again", async () => {
    const life = await firstLife();
    const { turn_id } = await submit(life);
    await ask(life, "c1");
    await give(life, "c1", "r1");
    await ask(life, "c2");
    await give(life, "c2", "r2");
    await life.answer("there it is");

    const { cursor } = await give(life, "c1", "r1");
    const heard = await listen(life, { after: cursor, turn: turn_id });
    expect(heard).toMatchObject({ ended: true });
    expect(heard.types.at(-1)).toBe("turn.completed");
  });

  test("ends at once for a reader that is connected when it begins to wait", async () => {
    const life = await firstLife();
    const { turn_id, cursor } = await submit(life);
    const heard = await listen(life, { after: cursor, turn: turn_id });
    await ask(life, "c1");
    expect(heard).toMatchObject({ ended: true });
    expect(heard.types.at(-1)).toBe("turn.awaiting_tools");
  });
});

describe("what waits for the next frame of an idle session", () => {
  const open = async (life: Life, of: "frames" | "events") => {
    const opened = await life.service.stream(CALLER, { after: null, turn: null, of });
    if (!opened.ok) throw new Error(opened.error.code);
    const reader = opened.value.getReader();
    const texts: string[] = [];
    const read = async (): Promise<void> => {
      for (let part = await reader.read(); !part.done; part = await reader.read()) texts.push(new TextDecoder().decode(part.value));
    };
    return { reader, texts, ended: read() };
  };

  test.each(["frames", "events"] as const)("is one for each reader of %s, however many heartbeats it received", async (of) => {
    const life = await firstLife();
    const readers = [await open(life, of), await open(life, of)];
    await settle();

    for (let beats = 0; beats < 50; beats++) {
      life.time.advance(15_000);
      await settle();
      expect(life.runtime.buffer.waiting).toBe(2);
    }

    await submit(life);
    expect(readers.map(({ texts }) => texts.filter((text) => text.includes("heartbeat")).length)).toEqual([50, 50]);
    expect(readers.every(({ texts }) => texts.some((text) => /turn\.started|TurnStarted/.test(text)))).toBe(true);
    expect(life.runtime.buffer.waiting).toBe(2);
  });

  test.each(["frames", "events"] as const)("is nothing of a reader of %s that left", async (of) => {
    const life = await firstLife();
    const stays = await open(life, of);
    for (let left = 0; left < 20; left++) {
      const { reader, ended } = await open(life, of);
      await settle();
      expect(life.runtime.buffer.waiting).toBe(2);
      await reader.cancel();
      await ended;
      expect(life.runtime.buffer.waiting).toBe(1);
    }
    life.time.advance(15_000);
    await settle();
    expect(stays.texts.at(-1)).toContain("heartbeat");
    expect(life.runtime.buffer.waiting).toBe(1);
  });
});

describe("a reply's id", () => {
  const framesNamed = ({ data }: Heard, type: string) => data.flatMap((frame) => (frame.type === type ? [frame] : []));
  const call = (call_id: string) => ({ type: "tool_call", call: { type: "tool_call", call_id, name: "look", arguments: "{}" } }) as const;

  test("comes with its first piece, whatever the reply consists of", async () => {
    const life = await firstLife();
    const { turn_id, cursor } = await submit(life);
    const heard = await listen(life, { after: cursor, turn: turn_id });
    await life.say({ type: "reasoning", text: "hm" }, { type: "text", text: "hel" }, { type: "text", text: "lo" });
    await life.answer("");
    const [recorded] = framesNamed(heard, "item.completed");
    expect(recorded).toMatchObject({ item: { content: [{ text: "hm" }, { text: "hello" }] } });
    const pieces = [...framesNamed(heard, "reasoning.delta"), ...framesNamed(heard, "text.delta")];
    expect(new Set(pieces.map(({ message_id }) => message_id))).toEqual(new Set([Reflect.get(Object(recorded?.item), "id")]));
  });

  test("is that of a call, where thinking led to calls alone; and the message has the thinking of all of them", async () => {
    const life = await firstLife();
    const { turn_id, cursor } = await submit(life);
    const heard = await listen(life, { after: cursor, turn: turn_id });
    await life.say(call("c1"), { type: "reasoning", text: "and then" }, call("c2"), { type: "finish", finish: "tool_calls", usage: null });
    const [recorded] = framesNamed(heard, "item.completed");
    const [piece] = framesNamed(heard, "reasoning.delta");
    expect(recorded).toMatchObject({
      item: { id: piece?.message_id, content: [{ type: "reasoning", text: "and then" }], tool_calls: [{ id: piece?.message_id }, {}] },
    });
  });

  test.each(["stopped", "lost with its process"])("is kept by a partial reply that is %s", async (end) => {
    const life = await firstLife();
    const { turn_id } = await submit(life);
    await life.say({ type: "text", text: "half" });
    life.runtime.buffer.flush();
    const next = end === "stopped" ? life : new Life(life.sql, "life-2");
    if (end === "stopped") await life.service.stop(CALLER, { idempotency: null });
    else next.runtime.wake();
    const heard = await listen(next, { after: null, turn: turn_id });
    expect(framesNamed(heard, "item.completed")).toMatchObject([
      { item: { incomplete: true, id: framesNamed(heard, "text.delta")[0]?.message_id } },
    ]);
  });
});

test("a stop that is only repeated leaves the reply of the next turn whole", async () => {
  const life = await firstLife();
  const stop = () => life.service.stop(CALLER, { idempotency: { key: "k", digest: "same" } });
  await submit(life);
  await stop();
  const { turn_id } = await submit(life);
  await life.say({ type: "text", text: "ha" });
  expect(await stop()).toMatchObject({ value: { replayed: true } });
  await life.answer("lf");
  if (turn_id === null) throw new Error("no turn");
  expect(await life.service.turn(CALLER, turn_id)).toMatchObject({ value: { output_text: "half" } });
});

test("a turn is streamed from its own first frame, also after other turns", async () => {
  const life = await firstLife();
  const { turn_id } = await submit(life);
  await life.answer("one");
  await life.send("another");
  await life.answer("two");
  const heard = await listen(life, { after: null, turn: turn_id });
  expect(heard).toMatchObject({ types: WHOLE, ended: true });
  life.sql.all("DELETE FROM frames");
  const again = await listen(new Life(life.sql, "life-2"), { after: null, turn: turn_id });
  expect(again.types).toEqual(["message.accepted", "turn.started", "item.completed", "turn.completed"]);
});

describe("a reader that falls behind what is kept", () => {
  /** Reads one chunk, and no more until it is asked to. */
  async function stalled(life: Life) {
    const opened = await life.service.stream(CALLER, { after: life.runtime.buffer.offset, turn: null });
    if (!opened.ok) throw new Error(opened.error.code);
    const reader = opened.value.getReader();
    const offsets: number[] = [];
    const types: string[] = [];
    const read = async (): Promise<void> => {
      const { value } = await reader.read();
      const text = new TextDecoder().decode(value);
      offsets.push(...[...text.matchAll(/^id: (\d+)$/gm)].map(([, id = ""]) => Number(id)));
      types.push(...[...text.matchAll(/^event: (.*)$/gm)].map(([, type = ""]) => type));
    };
    return { read, offsets, types };
  }

  test("receives the gap, and everything after it", async () => {
    const life = await firstLife();
    const reader = await stalled(life);
    await reader.read();
    for (let n = 0; n < 300; n++) {
      await submit(life);
      await life.answer("hi");
      await life.advance(1_000);
    }
    while (reader.offsets.at(-1) !== life.runtime.buffer.offset) await reader.read();

    const gap = reader.types.indexOf("stream.gap");
    expect(gap).toBeGreaterThan(-1);
    const jumps = reader.offsets.filter((offset, index) => index > 0 && offset !== (reader.offsets[index - 1] ?? 0) + 1);
    expect(jumps).toEqual([reader.offsets[gap]]);
  });
});

describe("a turn whose frames are gone is streamed from the record", () => {
  test.each([
    ["of a later life", secondLife],
    ["the session's first one", firstLife],
  ])("from its acceptance on, and once: %s", async (_, from) => {
    const heard = await toldAgain(async (life) => {
      const accepted = await submit(life);
      await life.answer("hi");
      return accepted;
    }, from);
    expect(heard).toMatchObject({ types: ["message.accepted", "turn.started", "item.completed", "turn.completed"], ended: true });
  });

  test("whole again to a client that was cut off among its frames", async () => {
    const life = await firstLife();
    const { turn_id, cursor } = await submit(life);
    await life.answer("hi");
    life.sql.all("DELETE FROM frames");
    const later = new Life(life.sql, "life-2");

    const first = await listen(later, { after: cursor, turn: turn_id });
    const second = await listen(later, { after: first.offsets[1] ?? null, turn: turn_id });

    expect(first.offsets).toEqual([cursor, cursor, cursor, cursor]);
    expect(second).toEqual(first);
  });

  test("to a client that repeats its message with its key", async () => {
    const life = await firstLife();
    await submit(life, "k");
    await life.answer("hi");
    life.sql.all("DELETE FROM frames");
    const later = new Life(life.sql, "life-2");
    const { turn_id, cursor, replayed } = await submit(later, "k");
    expect(replayed).toBe(true);
    expect((await listen(later, { after: cursor, turn: turn_id })).types.at(-1)).toBe("turn.completed");
  });

  test("and waits for its tools, if it does", async () => {
    const heard = await toldAgain(async (life) => {
      const accepted = await submit(life);
      const call = { type: "tool_call", call_id: "c1", name: "look", arguments: "{}" } as const;
      await life.say({ type: "tool_call", call }, { type: "finish", finish: "tool_calls", usage: null });
      return accepted;
    });
    expect(heard.ended).toBe(true);
    expect(heard.data.at(-1)).toMatchObject({ type: "turn.awaiting_tools", tool_calls: [{ call_id: "c1", arguments: "{}" }] });
  });

  test("with the reason why it was stopped", async () => {
    const heard = await toldAgain(async (life) => {
      const accepted = await submit(life);
      await life.send("no, wait", "interrupt");
      return accepted;
    });
    expect(heard.data.at(-1)).toMatchObject({ type: "turn.stopped", reason: "interrupted_by_message" });
  });

  test("which is that it never began, if its message was cancelled while it waited", async () => {
    const heard = await toldAgain(async (life) => {
      await submit(life);
      const accepted = await submit(life);
      await life.service.cancelQueued(CALLER, accepted.message_id);
      await life.answer("hi");
      return accepted;
    });
    expect(heard.types).toEqual(["message.accepted", "message.cancelled"]);
  });
});

test("a reader from the start receives a gap if the beginning is gone", async () => {
  const life = await firstLife();
  await submit(life);
  await life.answer("hi");
  expect((await listen(life, { after: 0, turn: null })).types[0]).toBe("message.accepted");

  const [gone] = life.sql.all<{ first: number; last: number }>("SELECT first, last FROM frames ORDER BY first LIMIT 1");
  life.sql.all("DELETE FROM frames WHERE first = ?", gone?.first ?? 0);

  const later = await listen(new Life(life.sql, "life-2"), { after: 0, turn: null });
  expect(later.data[0]).toEqual({ type: "stream.gap", to: gone?.last });
});

test("a reader of one turn receives a gap for frames that could not be stored", async () => {
  const life = await firstLife();
  const { turn_id, cursor } = await submit(life);
  life.sql.script("CREATE TRIGGER full BEFORE INSERT ON frames BEGIN SELECT RAISE(ABORT, 'the disk is full'); END");
  await life.say({ type: "text", text: "hi" });
  life.sql.script("DROP TRIGGER full");
  await life.say({ type: "finish", finish: "stop", usage: null });

  const heard = await listen(new Life(life.sql, "life-2"), { after: cursor, turn: turn_id });
  expect(heard).toMatchObject({
    types: ["message.accepted", "turn.started", "stream.gap", "usage.updated", "item.completed", "turn.completed"],
    ended: true,
  });
});

test("a reader of everything receives the erasure, and the stream ends", async () => {
  const life = await secondLife();
  await submit(life);
  const heard = await listen(life, { after: null, turn: null });
  await life.service.erase(CALLER);
  await settle();
  expect(heard.types.at(-1)).toBe("session.erased");
  expect(heard.ended).toBe(true);
});

test("a turn is received at once, however much of another one lies before it", async () => {
  const life = await firstLife();
  await submit(life);
  const waited = await submit(life, "k");
  // One second passes between two words, so that each is in its own pack.
  for (let word = 0; word < 40; word++) {
    await life.say({ type: "text", text: `word ${word} ` });
    await life.advance(1_000);
  }
  await life.say({ type: "finish", finish: "stop", usage: null });
  await life.answer("the second");

  const later = new Life(life.sql, "life-2");
  const heard = await listen(later, { after: waited.cursor, turn: waited.turn_id });

  expect(heard).toMatchObject({ types: WHOLE, ended: true });
});

test("a reader of the log receives events without a frame when they occur", async () => {
  const life = await secondLife();
  const heard = await listen(life, { after: null, turn: null, of: "events" });
  await life.service.patch(CALLER, { title: "another" });
  await settle();
  expect(heard.types).toEqual(["SettingsChanged"]);
});

test("metadata and titles are content: the log holds none of their words", async () => {
  const life = new Life();
  const input = {
    model: "test-model",
    policy: "oneclaw",
    system: "secret-a",
    tools: null,
    title: "secret-b",
    metadata: { note: "secret-c" },
  };
  await life.service.open(CALLER, input);
  await life.service.patch(CALLER, { title: "secret-d", metadata: { note: "secret-e" } });
  const log = JSON.stringify(life.sql.all("SELECT * FROM events"));
  expect(log).not.toContain("secret");
  expect(await life.service.describe(CALLER)).toMatchObject({ value: { title: "secret-d", metadata: { note: "secret-e" } } });
});

test("a reader of one turn receives changes of the conversation in the meantime", async () => {
  const life = await newLife();
  await say(life, "one", "1");
  await say(life, "two", "2");
  const { turn_id, cursor } = await submit(life);
  const heard = await listen(life, { after: cursor, turn: turn_id });

  trim(life);
  await life.answer("three");

  expect(heard).toMatchObject({ types: WHOLE.toSpliced(2, 0, "notice"), ended: true });
});

describe("the first bytes", () => {
  const readFirst = async (life: Life, of: "frames" | "events", after: number | null = null): Promise<string> => {
    const opened = await life.service.stream(CALLER, { after, turn: null, of });
    if (!opened.ok) throw new Error(opened.error.code);
    const reader = opened.value.getReader();
    const { value } = await reader.read();
    await reader.cancel();
    return new TextDecoder().decode(value);
  };

  test.each(["frames", "events"] as const)("come at once when nothing happens: a comment, which moves no offset (%s)", async (of) => {
    expect(await readFirst(await secondLife(), of)).toBe(": open\n\n");
  });

  test.each(["frames", "events"] as const)("are what was missed, where there is something (%s)", async (of) => {
    expect(await readFirst(await secondLife(), of, 0)).toMatch(/^id: 1\n/);
  });
});
