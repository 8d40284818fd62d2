import { describe, expect, test } from "vitest";
import { deriveTools, expectMessages, planSteps } from "../../scripts/replay/plan";
import { findDifference, type ReadMessage } from "../../scripts/replay/read-back";
import type { Conversation, RecordedMessage } from "../../scripts/replay/recording";
import { generateToolRun } from "../../scripts/replay/tool-run";

const user = (content: string): RecordedMessage => ({ role: "user", content });
const says = (content: string): RecordedMessage => ({ role: "assistant", content });
const calls = (content: string, ...ids: string[]): RecordedMessage => ({
  role: "assistant",
  content,
  tool_calls: ids.map((id) => ({ id, name: `tool_${id}`, arguments: `{"id":"${id}"}` })),
});
const result = (tool_call_id: string, content = ""): RecordedMessage => ({ role: "tool", tool_call_id, content });
const recorded = (...messages: RecordedMessage[]): Conversation => ({ id: "c", messages });

describe("the plan of a replay", () => {
  test("a user message with a recorded reply starts a turn, one without is only appended", () => {
    const steps = planSteps(recorded(user("a"), says("b"), user("c"), user("d")));
    expect(steps).toEqual([
      { type: "ask", content: "a", reply: { text: "b", calls: [] } },
      { type: "append", role: "user", content: "c" },
      { type: "append", role: "user", content: "d" },
    ]);
  });

  test("results go back together, and the reply after them is the next one spoken", () => {
    const [, answer] = planSteps(recorded(user("a"), calls("", "x", "y"), result("x", "1"), result("y", "2"), says("done")));
    expect(answer).toEqual({
      type: "answer",
      outputs: [
        { call_id: "x", output: "1" },
        { call_id: "y", output: "2" },
      ],
      reply: { text: "done", calls: [] },
    });
  });

  test("results that end the recording have no reply", () => {
    expect(planSteps(recorded(user("a"), calls("", "x"), result("x"))).at(-1)).toMatchObject({ type: "answer", reply: null });
  });

  test("a second assistant message in a row is appended as one", () => {
    expect(planSteps(recorded(user("a"), says("b"), says("c"))).at(-1)).toEqual({
      type: "append",
      role: "assistant",
      content: "c",
      calls: [],
    });
  });

  test("a call id may repeat from turn to turn", () => {
    const steps = planSteps(recorded(user("a"), calls("", "x"), result("x"), calls("", "x"), result("x")));
    expect(steps.map((step) => step.type)).toEqual(["ask", "answer", "answer"]);
  });

  test("calls without a preceding question are imported with their results, and so are the answers to them", () => {
    const steps = planSteps(
      recorded(user("a"), says("b"), calls("c", "x", "x"), result("x", "1"), result("x", "2"), says("d"), user("e"), says("f")),
    );
    const called = { id: "x", name: "tool_x", arguments: '{"id":"x"}' };
    expect(steps.slice(1)).toEqual([
      { type: "append", role: "assistant", content: "c", calls: [called, called] },
      { type: "append", role: "tool", content: "1", call_id: "x" },
      { type: "append", role: "tool", content: "2", call_id: "x" },
      { type: "append", role: "assistant", content: "d", calls: [] },
      { type: "ask", content: "e", reply: { text: "f", calls: [] } },
    ]);
  });

  test.each([
    ["a result that answers no call", recorded(user("a"), says("b"), result("x"))],
    ["a reply while a call is open", recorded(user("a"), calls("", "x", "y"), result("x"), says("b"))],
    ["an imported result that answers no call", recorded(calls("", "x"), result("x"), result("x"))],
  ])("%s is refused by the conversation's name", (_, conversation) => {
    expect(() => planSteps(conversation)).toThrow(/Conversation c/);
  });

  test("each tool is offered once, taking anything", () => {
    const tools = deriveTools([recorded(user("a"), calls("", "y", "x"), result("y"), result("x"), calls("", "x"))]);
    expect(tools).toEqual(["tool_x", "tool_y"].map((name) => ({ name, parameters: { type: "object", additionalProperties: true } })));
  });
});

describe("reading back", () => {
  const conversation = recorded(user("a"), calls("text", "x"), result("x", "out"), says("b"));
  const read = (): ReadMessage[] => [
    { id: "1", position: 1, role: "user", content: [{ type: "text", text: "a" }] },
    {
      id: "2",
      position: 2,
      role: "assistant",
      content: [{ type: "text", text: "text" }],
      tool_calls: [{ name: "tool_x", arguments: '{"id":"x"}' }],
    },
    { id: "4", position: 4, role: "tool", content: [{ type: "text", text: "out" }], call_id: "x" },
    { id: "5", position: 5, role: "assistant", content: [{ type: "text", text: "b" }] },
  ];
  const expected = expectMessages(conversation);

  test("the same messages in order are no difference", () => {
    expect(findDifference(expected, read())).toBeNull();
  });

  test("a missing, a further, a changed and a displaced message are told, the first one", () => {
    expect(findDifference(expected, read().slice(0, 3))).toMatch(/message 4 is missing/);
    expect(findDifference(expected.slice(0, 3), read())).toMatch(/message 4 was not recorded/);
    expect(findDifference(expected, read().with(1, { id: "2", position: 2, role: "assistant", content: [] }))).toMatch(/message 2 differs/);
    expect(findDifference(expected, read().toReversed())).toMatch(/message 1 differs/);
  });

  test("a lost and a changed call are told", () => {
    const [, reply] = read();
    const changed = reply ? [[], [{ name: "tool_x", arguments: "{}" }]].map((tool_calls) => read().with(1, { ...reply, tool_calls })) : [];
    expect(changed.map((messages) => findDifference(expected, messages)?.split(":")[0])).toEqual([
      "message 2 differs",
      "message 2 differs",
    ]);
  });

  test("a position given twice is a difference", () => {
    const doubled = read().map((message) => ({ ...message, position: 1 }));
    expect(findDifference(expected, doubled)).toMatch(/position 1 after 1/);
  });

  test("a result over the record's limit must have kept its beginning", () => {
    const long = "x".repeat(40_000);
    const [, , kept] = read();
    const cut: ReadMessage[] = kept ? [{ ...kept, content: [{ type: "text", text: `${long.slice(0, 30_000)} [cut]` }] }] : [];
    const recordedAs = (text: string) => [{ role: "tool", text, calls: [], call_id: "x" }] as const;
    expect(findDifference(recordedAs(long), cut)).toBeNull();
    expect(findDifference(recordedAs(`y${long}`), cut)).toMatch(/message 1 differs/);
  });
});

test("a generated run is the same for a seed, and one that a client could have produced", () => {
  const run = generateToolRun(4);
  expect(generateToolRun(4)).toEqual(run);
  expect(generateToolRun(5)).not.toEqual(run);
  const steps = planSteps(run);
  expect(steps.filter(({ type }) => type === "ask")).toHaveLength(50);
  expect(steps.filter(({ type }) => type === "append")).toEqual([]);
  expect(Math.max(...steps.map((step) => (step.type === "answer" ? step.outputs.length : 0)))).toBeGreaterThan(3);
});
