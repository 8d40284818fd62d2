/** What a reader of the live stream hears over evictions, lost frames and an erasure. */
import { describe, expect, test } from "vitest";
import type { Accepted } from "../../src/app/session-views";
import type { TurnId } from "../../src/domain/ids";
import { countingIds } from "../support/builders";
import { createNodeSql } from "../support/node-sql";
import { CALLER, Life, settle } from "./life";

const MESSAGE = { role: "user", parts: [{ type: "text", text: "hello" }], run: true, onBusy: "queue", tools: null } as const;

/** A session with one turn behind it, in a later life of its object. */
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
  ended: boolean;
}

/** Listens, and notes what comes until the stream ends. */
async function listen(life: Life, input: { after: number | null; turn: TurnId | null; of?: "frames" | "events" }): Promise<Heard> {
  const opened = await life.service.stream(CALLER, input);
  if (!opened.ok) throw new Error(opened.error.code);
  const heard: Heard = { types: [], ended: false };
  const decoder = new TextDecoder();
  const read = async (): Promise<void> => {
    for await (const bytes of opened.value)
      heard.types.push(...[...decoder.decode(bytes).matchAll(/^event: (.*)$/gm)].map(([, type = ""]) => type));
    heard.ended = true;
  };
  void read();
  await settle();
  return heard;
}

const WHOLE = ["message.accepted", "turn.started", "text.delta", "item.completed", "turn.completed"];

describe("after an eviction", () => {
  test("the first answer is heard once, from its acceptance on, while the turn runs", async () => {
    const life = await secondLife();
    const { turn_id, cursor } = await submit(life);
    const heard = await listen(life, { after: cursor, turn: turn_id });
    await life.answer("hi");
    await settle();
    expect(heard).toEqual({ types: WHOLE, ended: true });
  });

  test("the same when the turn is over before anybody listens, and again for the same key", async () => {
    const life = await secondLife();
    await submit(life, "k");
    await life.answer("hi");
    const { turn_id, cursor, replayed } = await submit(life, "k");
    expect(replayed).toBe(true);
    expect(await listen(life, { after: cursor, turn: turn_id })).toEqual({ types: WHOLE, ended: true });
  });
});

test("a turn whose frames are gone is told from the record, from its acceptance on, and once", async () => {
  const life = await secondLife();
  const { turn_id, cursor } = await submit(life);
  await life.answer("hi");
  life.sql.all("DELETE FROM frames");
  const later = new Life(life.sql, "life-3");
  const heard = await listen(later, { after: cursor, turn: turn_id });
  expect(heard).toEqual({ types: ["message.accepted", "turn.started", "item.completed", "turn.completed"], ended: true });
});

test("a reader of everything is told of the erasure, and that is the end", async () => {
  const life = await secondLife();
  await submit(life);
  const heard = await listen(life, { after: null, turn: null });
  await life.service.erase(CALLER);
  await settle();
  expect(heard.types.at(-1)).toBe("session.erased");
  expect(heard.ended).toBe(true);
});

test("a reader of the log hears of events that make no frame, as they come", async () => {
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
