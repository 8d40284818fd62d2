/** What a session's object keeps while it is not used, for a year: no timer, no map that grows, and no alarm that need not ring. */
import { expect, test } from "vitest";
import type { ModelStreamPart } from "../../src/app/ports";
import { withCountedCollections } from "../support/kept-collections";
import { CALLER, failure, Life, settle } from "./life";

const HOUR = 60 * 60_000;
const DAY = 24 * HOUR;

interface Idle {
  readonly name: string;
  /** Brings the session to where it is left. */
  readonly leave: (life: Life) => Promise<unknown>;
  /** The most alarms that may ring after the first two days. */
  readonly alarms: number;
}

async function talk(life: Life, turns = 3): Promise<void> {
  for (let n = 1; n <= turns; n++) {
    await life.send(`question ${n} ${"and more ".repeat(60)}`);
    await life.answer(`reply ${n} ${"and more ".repeat(60)}`);
  }
}

/** Ends as a provider's connection does: when it is aborted. */
async function* hang(signal: AbortSignal): AsyncGenerator<ModelStreamPart> {
  await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
  yield failure("aborted");
}

const IDLE: readonly Idle[] = [
  { name: "after a conversation", leave: (life) => talk(life), alarms: 0 },
  {
    name: "with a question that no model could answer",
    leave: async (life) => {
      await life.send("anyone?");
      await life.say(failure("auth"));
    },
    alarms: 0,
  },
  {
    name: "with calls that the client never answered",
    leave: async (life) => {
      await life.send("look it up");
      const call = { type: "tool_call", call_id: "call_1", name: "look", arguments: "{}" } as const;
      await life.say({ type: "tool_call", call }, { type: "finish", finish: "tool_calls", usage: null });
    },
    alarms: 0,
  },
  {
    name: "with a model that never answered",
    leave: (life) => {
      life.chat = { stream: (_, { signal }) => hang(signal), render: async () => ({ url: "", body: "" }) };
      return life.send("are you there?");
    },
    alarms: 0,
  },
  {
    name: "archived",
    leave: async (life) => {
      await talk(life);
      await life.service.archive(CALLER);
    },
    alarms: 0,
  },
  {
    name: "after its messages were redacted",
    leave: async (life) => {
      await talk(life);
      for (const { id } of life.runtime.state.view.items) await life.service.redact(CALLER, id);
    },
    alarms: 0,
  },
  {
    name: "with a reader that left the stream, and one that waited for the turn",
    leave: async (life) => {
      await life.send("hello");
      const turn = life.runtime.state.turn?.id ?? null;
      const stream = await life.service.stream(CALLER, { after: 0, turn: null });
      if (!stream.ok || !turn) throw new Error("no stream");
      const reader = stream.value.getReader();
      await reader.read();
      const waits = life.service.waitForTurn(CALLER, turn);
      await life.answer("hi");
      await waits;
      await reader.cancel();
    },
    alarms: 0,
  },
  {
    name: "with a compaction that no worker ever took: its looks get rarer, down to one an hour",
    leave: async (life) => {
      await talk(life, 6);
      await life.service.compact(CALLER, { dryRun: false, instructions: null, keepRecent: 400, upTo: null, idempotency: null });
      expect(life.runtime.state.compaction.requested).not.toBeNull();
    },
    alarms: 365 * 24,
  },
];

/** Lets an hour pass, and rings the alarm as often as it is due. */
const passHour = (life: Life): Promise<number> => life.ringUntil(life.time.now() + HOUR);

test.each(IDLE)("a session that is left $name", ({ leave, alarms }) =>
  withCountedCollections(async (sizes) => {
    const life = new Life();
    await life.open();
    await leave(life);
    await settle();
    for (let hour = 0; hour < 48; hour++) await passHour(life);
    const { seq } = life.runtime.state;
    const before = sizes();

    let rung = 0;
    for (let hour = 0; hour < (365 * DAY) / HOUR && rung <= alarms; hour++) rung += await passHour(life);

    const after = sizes();
    expect(before.map((_, index) => after[index])).toEqual(before);
    expect(life.time.waiting).toBe(0);
    expect(rung).toBeLessThanOrEqual(alarms);
    expect(life.alarmAt === null).toBe(alarms === 0);
    expect(life.runtime.state.seq).toBe(seq);
    // It goes on at once.
    await life.send("back again");
    expect(life.runtime.state.turn?.phase).toBe("generating");
  }),
);
