/** `memory_query` as a session's model uses it, and the same search as clients use it. */
import { beforeEach, describe, expect, test } from "vitest";
import type { RecallInput } from "../../../src/app/session-api";
import { toPolicyText } from "../../../src/context/policy-choice";
import { RECALL_TOOL } from "../../../src/context/recall-tool";
import { estimateTokens } from "../../../src/context/tokens";
import type { RecallReport } from "../../../src/contract/recall";
import { fixedTokens, isRecallOffered } from "../../../src/domain/state";
import { recallFor, toRecallPorts } from "../../../src/session/recall/recall";
import { readWatermark } from "../../../src/session/recall/recall-index";
import { CALLER, type Life, settle } from "../life";
import { newLife, say, trim, useTools } from "../talk";

const ANY: RecallInput = { query: null, execution: null, from: null, to: null, offset: 0, limit: 60 };

async function search(life: Life, input: Partial<RecallInput>): Promise<RecallReport> {
  const found = await life.service.recall(CALLER, { ...ANY, ...input });
  if (!found.ok) throw new Error(JSON.stringify(found.error));
  return found.value;
}

/** A search by the model in the middle of a turn. */
const ask = (life: Life, given: Record<string, unknown>) => recallFor(given, toRecallPorts(life.runtime));

let life: Life;
beforeEach(async () => {
  life = await newLife();
  await say(life, "My locker code is 7719-B.", "Noted.");
  await useTools(life, "How much is in stock?", ["412 crates of oranges"]);
  await say(life, "What a nice day.", "It is.");
  await say(life, "Shall we go?", "Let us go.");
  trim(life);
});

const lastExecution = (of: Life): string =>
  of.events().flatMap((event) => (event.type === "ToolCalled" && event.item.tool ? [event.item.tool.execution] : []))[0] ?? "";

test("the definition weighs no more in a request than the state says", async () => {
  await life.send("Where was it?");
  const [offered] = life.call.request.tools;
  const { runs: _, ...sent } = offered ?? RECALL_TOOL;
  expect(estimateTokens(JSON.stringify(sent))).toBeLessThanOrEqual(fixedTokens(life.runtime.state));
});

describe("the model, by words", () => {
  test("finds what left the view, with its place, its time and who said it", async () => {
    expect(isRecallOffered(life.runtime.state)).toBe(true);

    const { output, failure } = await ask(life, { query: "locker code" });

    expect(failure).toBeNull();
    expect(output).toContain("#1 user: My locker code is 7719-B.");
    expect(output).toMatch(/\[\d{4}-\d\d-\d\dT\d\d:\d\dZ\]/);
  });

  test("does not find what its view shows, unless nothing else has the words", async () => {
    await say(life, "Is there a locker around?", "There may be.");

    const hidden = await ask(life, { query: "locker" });
    const shown = await ask(life, { query: "around" });

    expect(hidden.output).not.toContain("around");
    expect(shown.output).toContain("(in view): Is there a locker around?");
  });

  test("does not find its own question of this turn", async () => {
    await life.send("What about the zeppelin?");

    const { output } = await ask(life, { query: "zeppelin" });

    expect(output).toContain("Nothing was found");
    await life.answer("I do not know.");
  });

  test("nothing enters the index before it has left the view", async () => {
    await ask(life, { query: "locker" });

    const { view, next_position } = life.runtime.state;
    expect(readWatermark(life.sql)).toBe((view.items[0]?.position ?? 0) - 1);
    expect(readWatermark(life.sql)).toBeLessThan(next_position - 1);
  });

  test("does not find what an earlier look-up returned, or asked", async () => {
    await life.send("What was my locker code?");
    const call = { type: "tool_call", call_id: "c", name: RECALL_TOOL.name, arguments: '{"query":"locker code zebra"}' } as const;
    await life.say({ type: "tool_call", call }, { type: "finish", finish: "tool_calls", usage: null });
    await life.answer("It is in the record.");
    const [result] = life.runtime.state.view.items.filter(({ kind }) => kind === "tool_result").slice(-1);
    expect(result?.tool?.name).toBe(RECALL_TOOL.name);

    const { data } = await search(life, { query: "locker code zebra 7719-B" });

    expect(data.map(({ position }) => position)).toContain(1);
    expect(data.filter(({ kind }) => kind === "tool_call" || kind === "tool_result").map(({ position }) => position)).not.toContain(
      result?.position,
    );
  });
});

describe("the model, by name", () => {
  test("reads an execution whole: its arguments and its result", async () => {
    const { output } = await ask(life, { execution_id: lastExecution(life) });

    expect(output).toContain("look_up {}");
    expect(output).toContain("412 crates of oranges");
  });

  test.each(["current", CALLER.session])("finds the content that left the view last by session_id %s alone", async (session_id) => {
    const { output } = await ask(life, { session_id });

    expect(output).toContain("not shown any more");
    expect(output).toContain("7719-B");
    expect(output).not.toContain("Let us go");
  });

  test.each([
    [{ session_id: "ses_01HZZZZZZZ0000000000000099" }, "session_id"],
    [{ session_id: "other", query: "locker" }, "session_id"],
    [{}, "query"],
    [{ query: "" }, "query"],
    [{ query: 7 }, "query"],
    [{ execution_id: "exe_nonsense" }, "execution_id"],
    [{ execution_id: "exe_01HZZZZZZZ0000000000000001", query: "locker" }, "query"],
    [{ execution_id: "exe_01HZZZZZZZ0000000000000001", from: 3 }, "from"],
    [{ from: 9, to: 3 }, "to"],
    [{ from: 10_000 }, "from"],
    [{ from: 1.5 }, "from"],
    [{ from: 1, offset: -1 }, "offset"],
    [{ query: "locker", offset: 10 }, "offset"],
  ])("%j is refused, and the message names the field", async (given, field) => {
    const { output, failure } = await ask(life, given);

    expect(failure).toBe("invalid_arguments");
    expect(output.startsWith(`${field}: `)).toBe(true);
  });
});

describe("people", () => {
  test("find all of it, with a mark of what the model still sees", async () => {
    const { data, text, tokens } = await search(life, { query: "locker go" });

    expect(data.map(({ position, in_view }) => [position, in_view])).toEqual(
      expect.arrayContaining([
        [1, false],
        [life.runtime.state.next_position - 1, true],
      ]),
    );
    expect(tokens).toMatchObject({ tokens: estimateTokens(text), source: "estimated" });
    expect(data.find(({ position }) => position === 1)).toMatchObject({
      kind: "user",
      execution_id: null,
      snippet: "My locker code is 7719-B.",
    });
  });

  test("never find what was redacted, not even beside a hit", async () => {
    await ask(life, { query: "locker" });
    // The index still has its words.
    life.sql.all("UPDATE items SET meta = json_set(meta, '$.redacted', json('true')) WHERE position = 1");

    const byWords = await recallFor({ query: "locker code noted" }, toRecallPorts(life.runtime));

    expect(byWords.output).not.toContain("7719");
    expect(byWords.output).toContain("Noted.");
  });

  test("another tenant's session does not exist", async () => {
    const foreign = { tenant: "ten_01HZZZZZZZ0000000000000077" as typeof CALLER.tenant, session: CALLER.session };

    expect(await life.service.recall(foreign, { ...ANY, query: "locker" })).toMatchObject({
      ok: false,
      error: { code: "session_not_found" },
    });
  });

  test("what was erased is gone, terms included", async () => {
    await search(life, { query: "locker" });

    await life.service.erase(CALLER);
    await settle();

    expect(await life.service.recall(CALLER, { ...ANY, query: "locker" })).toMatchObject({ ok: false, error: { code: "session_erased" } });
    expect(life.sql.all("SELECT term FROM recall_terms")).toEqual([]);
  });
});

test("what it returned is recorded as it is, however short the policy cuts results", async () => {
  const tight = await newLife({ policy: toPolicyText({ preset: "oneclaw", results: { max_chars: 100 } }) });
  await say(tight, `My locker code is 7719-B. ${"It is a long walk. ".repeat(20)}`, "Noted.");
  await say(tight, "What a nice day.", "It is.");
  await say(tight, "Shall we go?", "Let us go.");
  trim(tight);
  await tight.send("What was the code?");
  const call = { type: "tool_call", call_id: "call_1", name: RECALL_TOOL.name, arguments: '{"from":1,"to":1}' } as const;
  tight.call.say({ type: "tool_call", call });
  tight.call.say({ type: "finish", finish: "tool_calls", usage: null });
  await settle();

  const [result] = tight.call.request.messages.at(-1)?.parts ?? [];

  expect(result?.type === "tool_result" ? result.output : "").toContain("It is a long walk. ".repeat(20).trim());
});
