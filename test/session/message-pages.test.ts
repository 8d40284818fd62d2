/** The list of messages: a reply and its calls are one message, on one page, whatever the page's size. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { SubmitInput } from "../../src/app/session-api";
import type { ImportedCall } from "../../src/app/written-message";
import type { DisplayItem } from "../../src/contract/item";
import type { ItemId } from "../../src/domain/ids";
import { drawn } from "../support/effort";
import { CALLER, type Life, settle } from "./life";
import { newLife, say } from "./talk";

const calls = (count: number): ImportedCall[] =>
  Array.from({ length: count }, (_, n) => ({ call_id: `c${n}`, name: "look", arguments: "{}" }));

const APPENDED = { run: false, onBusy: "queue", tools: null, idempotency: null } as const;
const user = (text: string): SubmitInput => ({ role: "user", parts: [{ type: "text", text }], ...APPENDED });
const reply = (text: string, made: readonly ImportedCall[]): SubmitInput => ({
  role: "assistant",
  parts: text === "" ? [] : [{ type: "text", text }],
  calls: made,
  ...APPENDED,
});
const result = (call_id: string): SubmitInput => ({ role: "tool", call_id, output: "seen", is_error: false, ...APPENDED });

async function append(life: Life, ...messages: readonly SubmitInput[]): Promise<void> {
  for (const message of messages) {
    const accepted = await life.service.submit(CALLER, message);
    if (!accepted.ok) throw new Error(accepted.error.code);
  }
  await settle();
}

async function read(life: Life, page: { readonly after?: number; readonly limit?: number; readonly order?: "asc" | "desc" }) {
  const answer = await life.service.items(CALLER, { after: null, limit: 200, order: "asc", ...page });
  if (!answer.ok) throw new Error(answer.error.code);
  return answer.value;
}

/** A reply of words and two calls at 2, 3 and 4, their results, and a reply of three calls alone at 7, 8 and 9. */
async function talked(): Promise<Life> {
  const life = await newLife();
  await append(life, user("hello"), reply("Let me look.", calls(2)), result("c0"), result("c1"), reply("", calls(3)), user("and?"));
  return life;
}

const show = ({ position, role, tool_calls }: DisplayItem): string =>
  [position, role, ...(tool_calls ?? []).map((each) => each.position)].join(" ");

describe("a reply with calls", () => {
  test("is one message, and each call has its own id, place and execution", async () => {
    const { data } = await read(await talked(), {});

    expect(data.map(show)).toEqual(["1 user", "2 assistant 3 4", "5 tool", "6 tool", "7 assistant 7 8 9", "10 user"]);
    const [, reply, first, second] = data;
    expect(reply).toMatchObject({ content: [{ text: "Let me look." }], tool_calls: calls(2) });
    expect([first, second].map((each) => each?.execution_id)).toEqual(reply?.tool_calls?.map(({ execution_id }) => execution_id));
    expect(new Set(reply?.tool_calls?.map(({ id }) => id)).size).toBe(2);
    expect(data[4]).toMatchObject({ id: data[4]?.tool_calls?.[0]?.id, content: [] });
  });

  test.each([
    ["asc", 2, ["5 tool"]],
    ["asc", 3, ["5 tool"]],
    ["asc", 4, ["5 tool"]],
    ["asc", 6, ["7 assistant 7 8 9"]],
    ["desc", 5, ["2 assistant 3 4"]],
    ["desc", 4, ["2 assistant 3 4"]],
    ["desc", 3, ["2 assistant 3 4"]],
    ["desc", 2, ["1 user"]],
    ["desc", 9, ["7 assistant 7 8 9"]],
    ["desc", 7, ["6 tool"]],
  ] as const)("is never cut by a page (%s after %i)", async (order, after, expected) => {
    const { data } = await read(await talked(), { order, after, limit: 1 });
    expect(data.map(show)).toEqual(expected);
  });

  test("of a turn is one frame, and one message of its report", async () => {
    const life = await newLife();
    const opened = await life.service.stream(CALLER, { after: 0, turn: null });
    if (!opened.ok) throw new Error(opened.error.code);
    await life.send("go");
    await life.say(
      { type: "text", text: "Let me look." },
      ...calls(2).map((each) => ({ type: "tool_call", call: { type: "tool_call", ...each } }) as const),
      { type: "finish", finish: "tool_calls", usage: null },
    );
    const results = calls(2).map(({ call_id }) => ({ execution_id: null, call_id, output: "seen", is_error: false }));
    await life.service.toolResults(CALLER, { results, idempotency: null });
    await settle();
    await life.answer("done");

    const { turn } = life.events().findLast((event) => event.type === "TurnStarted") ?? {};
    const report = turn && (await life.service.turn(CALLER, turn));
    const completed = life.runtime.buffer.read(0, 100).filter(({ type }) => type === "item.completed");
    const shown = completed.map(({ json }) => (JSON.parse(json) as { readonly item: DisplayItem }).item);
    expect(shown.map(show)).toEqual(["2 assistant 3 4", "5 tool", "6 tool", "7 assistant"]);
    expect(report?.ok && report.value.items).toEqual(shown);
    expect((await read(life, { after: 1 })).data).toEqual(shown);
  });
});

const message = fc.oneof(
  fc.constant(user("hello")),
  fc.tuple(fc.boolean(), fc.integer({ min: 1, max: 3 })).map(([isWordless, count]) => reply(isWordless ? "" : "well", calls(count))),
);

test.each(["asc", "desc"] as const)("pages of any size are the whole list, and hold each message once (%s)", async (order) => {
  await fc.assert(
    fc.asyncProperty(fc.array(message, { minLength: 1, maxLength: 12 }), fc.integer({ min: 1, max: 5 }), async (messages, limit) => {
      const life = await newLife();
      await append(life, ...messages);
      const whole = (await read(life, { order })).data;

      const paged: DisplayItem[] = [];
      for (let page = await read(life, { order, limit }); ; ) {
        paged.push(...page.data);
        const last = page.data.at(-1);
        if (!page.has_more || !last) break;
        expect(page.data).toHaveLength(limit);
        const after = order === "asc" ? (last.tool_calls?.at(-1)?.position ?? last.position) : last.position;
        page = await read(life, { order, limit, after });
      }

      expect(paged).toEqual(whole);
      expect(whole).toHaveLength(messages.length);
    }),
    { numRuns: drawn(25) },
  );
});

describe("one message", () => {
  const ids = (life: Life) => life.sql.all<{ id: string }>("SELECT json_extract(meta, '$.id') AS id FROM items ORDER BY position");

  test("is the one of the list, by its own id or that of any of its calls", async () => {
    const life = await talked();
    const { data } = await read(life, {});
    const found = await Promise.all(ids(life).map(({ id }) => life.service.message(CALLER, id as ItemId)));

    expect(found.map((each) => each.ok && each.value.position)).toEqual([1, 2, 2, 2, 5, 6, 7, 7, 7, 10]);
    for (const each of found) expect(data).toContainEqual(each.ok && each.value);
  });

  test("of a branch that was left is found, and one that waits or was never said is unknown", async () => {
    const life = await newLife();
    await say(life, "one", "two");
    const [{ id } = { id: "" }] = ids(life);
    await life.service.rewind(CALLER, { to: 0, idempotency: null });
    await life.send("three");
    await life.send("four");
    const [waiting] = life.runtime.state.queue;

    expect(await life.service.message(CALLER, id as ItemId)).toMatchObject({ ok: true, value: { position: 1 } });
    const unknown = [waiting?.item.id, "msg_01JD8Z3V6Q4N7R2T5W9X0Y1ABC"] as ItemId[];
    for (const each of unknown)
      expect(await life.service.message(CALLER, each)).toEqual({ ok: false, error: { code: "message_not_found", message: each } });
  });

  test("that was redacted has only its place", async () => {
    const life = await newLife();
    await say(life, "my password is hunter2", "noted");
    const [{ id } = { id: "" }] = ids(life);
    await life.service.redact(CALLER, id as ItemId);

    expect(await life.service.message(CALLER, id as ItemId)).toMatchObject({ value: { position: 1, content: [{ text: "[redacted]" }] } });
  });
});
