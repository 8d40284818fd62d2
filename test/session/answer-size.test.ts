/** Every response of a session stays within the size of one response, however long the session is. */
import { expect, test } from "vitest";
import type { ModelStreamPart } from "../../src/app/ports";
import type { SubmitInput } from "../../src/app/session-api";
import type { Page } from "../../src/contract/page";
import { MAX_ANSWER_BYTES, takeWithin } from "../../src/session/calls/answer-size";
import { MAX_SHOWN_CHARS } from "../../src/session/calls/context-call";
import { CALLER, failure, Life, SPEC, settle } from "./life";

const LARGE = "x".repeat(MAX_ANSWER_BYTES / 4);

async function append(life: Life, text: string, more: Partial<Extract<SubmitInput, { parts: unknown }>> = {}): Promise<void> {
  const said = { role: "user", parts: [{ type: "text", text }], ...more } as const;
  await life.service.submit(CALLER, { ...said, run: false, onBusy: "queue", tools: null, idempotency: null });
}

type Ask<T> = (after: number | null) => Promise<{ readonly ok: true; readonly value: Page<T> } | { readonly ok: false }>;

/** Reads every page to the end, as a client that follows the cursor does. */
async function walk<T>(ask: Ask<T>, toCursor: (row: T) => number): Promise<readonly (readonly T[])[]> {
  const pages: (readonly T[])[] = [];
  let after: number | null = null;
  for (;;) {
    const page = await ask(after);
    if (!page.ok) throw new Error("no page");
    const last = page.value.data.at(-1);
    if (last) pages.push(page.value.data);
    if (!page.value.has_more || !last) return pages;
    after = toCursor(last);
  }
}

test.each(["asc", "desc"] as const)(
  "a page of large messages ends where the answer would be too large, and the next goes on there (%s)",
  async (order) => {
    const life = new Life();
    await life.open();
    for (let n = 0; n < 10; n++) await append(life, LARGE);

    const pages = await walk(
      (after) => life.service.items(CALLER, { after, limit: 50, order }),
      (item) => item.position,
    );

    const positions = pages.flat().map((item) => item.position);
    expect(positions).toEqual(order === "asc" ? [1, 2, 3, 4, 5, 6, 7, 8, 9, 10] : [10, 9, 8, 7, 6, 5, 4, 3, 2, 1]);
    for (const page of pages) expect(JSON.stringify(page).length).toBeLessThan(MAX_ANSWER_BYTES * 1.1);
  },
);

test("a message that is larger than a page has one of its own", () => {
  const rows = [5, 1, 1, 9, 1];
  const taken = (from: number) => takeWithin(rows.slice(from), { weigh: (row) => row, limit: 4 });
  expect([taken(0), taken(1), taken(3), taken(4)]).toEqual([[5], [1, 1], [9], [1]]);
});

test("a page of small messages is as long as was asked for", async () => {
  const life = new Life();
  await life.open();
  for (let n = 0; n < 5; n++) await append(life, "hello");
  const page = await life.service.items(CALLER, { after: null, limit: 5, order: "asc" });
  expect(page).toMatchObject({ ok: true, value: { has_more: false, data: { length: 5 } } });
});

test("so does a page of large events", async () => {
  const life = new Life();
  await life.open();
  const calls = Array.from({ length: 128 }, (_, n) => ({ call_id: `${n}`.padEnd(4_096, "."), name: "look", arguments: "{}" }));
  for (let n = 0; n < 10; n++) await append(life, "seen", { role: "assistant", calls });

  const pages = await walk(
    (after) => life.service.events(CALLER, { after, limit: 50, order: "asc" }),
    (event) => event.seq,
  );

  expect(pages.flat().map((event) => event.seq)).toEqual(life.events().map((event) => event.seq));
  for (const page of pages) expect(JSON.stringify(page).length).toBeLessThan(MAX_ANSWER_BYTES * 1.1);
});

const buildCalls = (round: number): ModelStreamPart[] =>
  Array.from({ length: 40 }, (_, n) => ({
    type: "tool_call",
    call: { type: "tool_call", call_id: `${round}.${n}`, name: "look", arguments: JSON.stringify("a".repeat(5_000)) },
  }));

/** The view has more bytes than a request may have, so that a summary is asked for before each round. */
async function refuseSummaries(life: Life): Promise<void> {
  while (life.calls.at(-1)?.request.purpose === "compaction") await life.say(failure("refused"));
}

/** Rounds of 40 calls, each with a result of the maximum length. One call of the last round stays open. */
async function manyResults(rounds: number): Promise<Life> {
  const life = new Life();
  life.models = { resolve: async (id) => ({ ...SPEC, id, context_window: null }) };
  await life.open();
  await life.send("go");
  for (let round = 1; round <= rounds; round++) {
    await life.say(...buildCalls(round), { type: "finish", finish: "tool_calls", usage: null });
    const open = round === rounds ? 1 : 0;
    const results = buildCalls(round)
      .slice(open)
      .flatMap((chunk) =>
        chunk.type === "tool_call"
          ? [{ execution_id: null, call_id: chunk.call.call_id, output: "€".repeat(30_000), is_error: false }]
          : [],
      );
    await life.service.toolResults(CALLER, { results, idempotency: null });
    await settle();
    await refuseSummaries(life);
  }
  return life;
}

async function readReport(life: Life) {
  const turn = life.events().find((event) => event.type === "TurnStarted")?.turn;
  const report = turn && (await life.service.turn(CALLER, turn));
  if (!report?.ok) throw new Error("no such turn");
  return report.value;
}

test("the report of a turn with large results holds the newest, says that older are left out, and names every open call", async () => {
  const life = await manyResults(3);

  const waiting = await readReport(life);
  expect(waiting).toMatchObject({ status: "awaiting_tools", items_truncated: true });
  expect(waiting.open_calls.map((call) => call.call_id)).toEqual(["3.0"]);
  expect(JSON.stringify(waiting.items).length).toBeLessThan(MAX_ANSWER_BYTES);

  await life.service.toolResults(CALLER, {
    results: [{ execution_id: null, call_id: "3.0", output: "seen", is_error: false }],
    idempotency: null,
  });
  await settle();
  await refuseSummaries(life);
  await life.answer("done");
  const ended = await readReport(life);
  expect(ended).toMatchObject({ status: "completed", items_truncated: true });
  expect(ended.items.at(-1)).toMatchObject({ role: "assistant", content: [{ text: "done" }] });
});

test("a next request that is too large to show is refused as that", async () => {
  const life = new Life();
  await life.open();
  life.body = "x".repeat(MAX_SHOWN_CHARS);
  expect(await life.service.context(CALLER, { content: null })).toMatchObject({ ok: true });
  life.body += "x";
  const error = { code: "context_too_large", characters: MAX_SHOWN_CHARS + 1, limit: MAX_SHOWN_CHARS };
  expect(await life.service.context(CALLER, { content: null })).toEqual({ ok: false, error });
});
