/** What the model could read as a turn started, and the notes of turns, read back later. */
import { describe, expect, test } from "vitest";
import type { StartContext } from "../../src/app/past-api";
import type { ItemId, TurnId } from "../../src/domain/ids";
import { id } from "../support/builders";
import { CALLER, type Life, MESSAGE, settle } from "./life";
import { compact, newLife, revert, SUMMARY, useTools } from "./talk";

const opened = (): Promise<Life> => newLife({});

async function ask(life: Life, text: string, note: string | null = null): Promise<TurnId> {
  const accepted = await life.service.submit(CALLER, { ...MESSAGE, parts: [{ type: "text", text }], note });
  await settle();
  if (!accepted.ok || !accepted.value.turn_id) throw new Error(JSON.stringify(accepted));
  return accepted.value.turn_id;
}

async function say(life: Life, text: string, note: string | null = null): Promise<TurnId> {
  const turn = await ask(life, text, note);
  await life.answer(`so ${text}`);
  return turn;
}

/** The view as it is now, in the words of the answer. */
async function readNow({ service, runtime }: Life): Promise<StartContext> {
  const described = await service.describe(CALLER);
  const messages = runtime.state.view.items.filter(({ kind }) => kind !== "tool_call").map((item) => item.id);
  return { summary: described.ok ? described.value.compacted_summary : null, messages };
}

const readStart = async ({ service }: Life, turn: TurnId): Promise<StartContext | string> => {
  const start = await service.contextAtStart(CALLER, turn);
  return start.ok ? start.value : start.error.code;
};

const firstMessages = async ({ service }: Life): Promise<ItemId[]> => {
  const page = await service.items(CALLER, { after: null, limit: 100, order: "asc", branch: "all" });
  return page.ok ? page.value.data.map((message) => message.id) : [];
};

describe("the context at the start of a turn", () => {
  test("is what it was, whatever follows: compactions, a revert, branches and a long log", async () => {
    const life = await opened();
    const then = new Map<TurnId, StartContext>();
    const tell = async (text: string): Promise<void> => {
      const turn = await ask(life, text);
      then.set(turn, await readNow(life));
      await life.answer(`so ${text}`);
    };
    for (let n = 0; n < 80; n++) {
      await tell(`story ${n} ${"word ".repeat(20)}`);
      if (n % 12 === 9) await compact(life, 200);
      if (n === 34) await revert(life);
      if (n === 20) await life.service.rewind(CALLER, { to: 30, idempotency: null });
    }
    expect(life.runtime.state.seq).toBeGreaterThan(300);
    expect(new Set([...then.values()].map(({ summary }) => summary)).size).toBeGreaterThan(1);

    for (const [turn, start] of then) expect(await readStart(life, turn)).toEqual(start);
  });

  test("names each reply once, with its calls, and each result", async () => {
    const life = await opened();
    await useTools(life, "look", ["one", "two"]);
    const turn = await say(life, "and?");

    expect(await readStart(life, turn)).toEqual({ summary: null, messages: (await firstMessages(life)).slice(0, -1) });
  });

  test("is unknown of a turn that waits, and of none", async () => {
    const life = await opened();
    await ask(life, "one");
    const waiting = await ask(life, "two");

    expect(await readStart(life, waiting)).toBe("turn_not_found");
    expect(await readStart(life, id("trn", 0))).toBe("turn_not_found");
  });

  test("has no summary that a redaction has removed", async () => {
    const life = await opened();
    for (let n = 0; n < 6; n++) await say(life, `story ${n} ${"word ".repeat(20)}`);
    await compact(life, 100);
    const turn = await say(life, "and?");
    expect(await readStart(life, turn)).toMatchObject({ summary: SUMMARY });

    const [first = id("msg", 0)] = await firstMessages(life);
    await life.service.redact(CALLER, first);

    expect(await readStart(life, turn)).toMatchObject({ summary: null });
  });
});

describe("the notes of turns", () => {
  test("are those that hold a text, with the first message of their turn", async () => {
    const life = await opened();
    const [plain, one] = [await say(life, "one"), await say(life, "two", '{"page":"天气"}')];
    const other = await say(life, "three", '{"page":"home"}');
    const empty = await ask(life, "four", '{"page":"天气"}');
    const turns = [plain, one, other, empty, id("trn", 0)];
    const messages = await firstMessages(life);

    const notes = await life.service.notes(CALLER, { turns, having: "天气" });

    expect(notes).toEqual({
      ok: true,
      value: [
        { turn: one, note: '{"page":"天气"}', first: messages[3] },
        { turn: empty, note: '{"page":"天气"}', first: null },
      ],
    });
  });
});
