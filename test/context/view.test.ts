import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { buildView, EARLIER, NO_RESULT, type ViewEntry } from "../../src/context/view";
import type { ItemMeta, Part } from "../../src/domain/message";
import { call, item, result, turnId } from "../support/builders";

const entry = (meta: ItemMeta): ViewEntry => ({ meta, parts: [buildPart(meta)] });
function buildPart(meta: ItemMeta): Part {
  const tool = meta.tool ?? { call_id: "", name: "" };
  if (meta.kind === "tool_call") return { type: "tool_call", call_id: tool.call_id, name: tool.name, arguments: "{}" };
  if (meta.kind === "tool_result") return { type: "tool_result", call_id: tool.call_id, name: tool.name, output: "found", is_error: false };
  return { type: "text", text: `${meta.kind} ${meta.position}` };
}
const plain = {
  system: null,
  pins: [],
  summaries: [],
  dropped: 0,
  placement: "system-prefix",
  reduced: [],
  namesRecall: false,
  signedFrom: 0,
  model: "m",
} as const;
const view = (metas: readonly ItemMeta[], change: Partial<Parameters<typeof buildView>[0]> = {}) =>
  buildView({ ...plain, system: "Be kind.", entries: metas.map(entry), ...change });

describe("the system prompt under placement system-prefix", () => {
  test("without a summary is the original", () => {
    expect(view([]).system).toBe("Be kind.");
  });

  test("has the summary before it", () => {
    expect(view([], { summaries: ["They met."] }).system).toBe("Previous conversation summary:\nThey met.\n\n---\n\nBe kind.");
  });

  test("of a session without one goes on from the summary", () => {
    expect(view([], { system: null, summaries: ["They met."] }).system).toBe(
      "Previous conversation summary:\nThey met.\n\n---\n\nContinue the conversation based on the summary above.",
    );
  });

  test("says that messages were trimmed", () => {
    expect(view([], { dropped: 4 }).system).toContain("4 earlier messages");
  });
});

const turn = { turn: turnId(1) };

describe("messages", () => {
  test("a response is one message with its calls, and its results follow in the order of the calls", () => {
    const { messages } = view([
      item(1, "user"),
      item(2, "assistant", turn),
      call(3, 1, turn),
      call(4, 2, turn),
      result(5, 2),
      result(6, 1),
    ]);
    expect(messages.map((message) => message.role)).toEqual(["user", "assistant", "tool", "tool"]);
    expect(messages.slice(2).map((message) => message.parts.map((part) => (part.type === "tool_result" ? part.call_id : "")))).toEqual([
      ["call_1"],
      ["call_2"],
    ]);
  });

  test("a call that was never answered gets a placeholder on the copy", () => {
    const { messages } = view([item(1, "user"), call(2, 1), item(3, "user")]);
    expect(messages.map((message) => message.role)).toEqual(["user", "assistant", "tool", "user"]);
    expect(messages[2]?.parts).toEqual([{ type: "tool_result", call_id: "call_1", name: "look_up", output: NO_RESULT, is_error: true }]);
  });

  test("two rounds of calls without words between them stay two responses", () => {
    const { messages } = view([item(1, "user"), call(2, 1), result(3, 1), call(4, 2), result(5, 2)]);
    expect(messages.map((message) => message.role)).toEqual(["user", "assistant", "tool", "assistant", "tool"]);
  });

  test("a shortened result is shorter in the view and whole in what it was built from", () => {
    const long: ViewEntry = {
      meta: result(3, 1),
      parts: [{ type: "tool_result", call_id: "call_1", name: "look_up", output: "x".repeat(9_000), is_error: false }],
    };
    const built = buildView({
      ...plain,
      entries: [entry(call(2, 1)), long],
      reduced: [{ position: 3, how: "shortened", tokens: 500, chars: 1_000 }],
    });
    expect(JSON.stringify(built.messages).length).toBeLessThan(2_000);
    expect(long.parts[0]).toMatchObject({ output: "x".repeat(9_000) });
  });

  test.each([
    [true, / characters left out of this view \(memory_query with execution_id exe_\w+ has all\) \.\.\.\]/],
    [false, / characters left out of this view \.\.\.\]/],
  ])("a shortened result says how to have all of it where memory_query is offered: %s", (namesRecall, notice) => {
    const output = "x".repeat(9_000);
    const long = {
      meta: result(3, 1),
      parts: [{ type: "tool_result", call_id: "call_1", name: "look_up", output, is_error: false }],
    } as const;
    const reduced = [{ position: 3, how: "shortened", tokens: 500, chars: 1_000 }] as const;
    const { messages } = buildView({ ...plain, namesRecall, entries: [entry(call(2, 1)), long], reduced });
    expect(messages.at(-1)?.parts).toMatchObject([{ output: expect.stringMatching(notice) }]);
  });

  test("a shortened message of several texts shows the ends of all of them together, and keeps its images", () => {
    const image: Part = { type: "image", url: "https://files.example/1.png", media_type: "image/png" };
    const texts = Array.from({ length: 60 }, (_, n): Part => ({ type: "text", text: `text ${n} ${"-".repeat(900)}` }));
    const [first, ...rest] = texts;
    const shortened = [{ position: 1, how: "shortened", tokens: 500, chars: 1_000 }] as const;
    const parts: readonly Part[] = first ? [first, image, ...rest] : [];
    const [message] = buildView({ ...plain, entries: [{ meta: item(1, "user"), parts }], reduced: shortened }).messages;
    expect(message?.parts).toMatchObject([{ type: "text", text: expect.stringMatching(/^text 0 -+/) }, image]);
    expect(JSON.stringify(message?.parts).length).toBeLessThan(1_300);
  });

  describe("what was cut opens with a message of the user", () => {
    const kept = [call(2, 1), result(3, 1), item(4, "assistant", turn), item(5, "user")];
    const opening = { role: "user", parts: [{ type: "text", text: EARLIER }] };

    test.each([
      ["a summary in the system prompt", { summaries: ["They met."] }, ["user", "assistant", "tool", "assistant", "user"]],
      ["trimmed messages", { dropped: 4 }, ["user", "assistant", "tool", "assistant", "user"]],
      [
        "a summary as the system's message",
        { summaries: ["They met."], placement: "system-message" },
        ["system", "user", "assistant", "tool", "assistant", "user"],
      ],
    ] as const)("behind %s", (_, change, roles) => {
      const { messages } = view(kept, change);
      expect(messages.map(({ role }) => role)).toEqual(roles);
      expect(messages.find(({ role }) => role !== "system")).toEqual(opening);
    });

    test("not a second one where the summary is the user's message, or where the user is first", () => {
      const [first, second] = view(kept, { dropped: 4, placement: "user-message" }).messages;
      expect([first?.role, second?.role]).toEqual(["user", "assistant"]);
      expect(view([item(1, "system"), item(2, "user")], { dropped: 4 }).messages.map(({ role }) => role)).toEqual(["system", "user"]);
    });

    test("not where nothing was cut: who greets first did so", () => {
      expect(view([item(1, "assistant"), item(2, "user")]).messages.map(({ role }) => role)).toEqual(["assistant", "user"]);
    });

    test("and stays as it is, whatever is appended", () => {
      const entries = [item(1, "system"), ...kept, item(6, "assistant"), item(7, "system")];
      const built = entries.map((_, index) => view(entries.slice(0, index + 1), { dropped: 4 }).messages);
      // A response is one message that grows until it is complete.
      const whole = built.filter((_, index) => entries[index + 1]?.kind !== "tool_result");
      for (const [index, messages] of whole.entries()) expect(whole[index + 1]?.slice(0, messages.length) ?? messages).toEqual(messages);
    });
  });

  test("every call has exactly one result right after its response, whatever the history", () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...SHAPES), { maxLength: 40 }), (shape) => {
        const { messages } = view(history(shape));
        for (const [index, message] of messages.entries()) {
          if (message.role !== "assistant") continue;
          const calls = message.parts.filter((part) => part.type === "tool_call").length;
          const following = messages.slice(index + 1, index + 1 + calls);
          expect(following.every((next) => next.role === "tool")).toBe(true);
          expect(messages[index + 1 + calls]?.role).not.toBe("tool");
        }
      }),
    );
  });
});

/** A user message, an assistant message, a call, a call of the message before it, a result. */
const SHAPES = ["u", "a", "c", "n", "r"] as const;

/** Any order of items that a log can contain: a result only answers an open call. */
function history(shape: readonly (typeof SHAPES)[number][]): ItemMeta[] {
  const open: number[] = [];
  return shape.map((what, index): ItemMeta => {
    const position = index + 1;
    if (what === "c" || what === "n") open.push(position);
    const answered = what === "r" ? open.shift() : undefined;
    if (what === "c") return call(position, position);
    if (what === "n") return call(position, position, { continues: true });
    if (answered !== undefined) return result(position, answered);
    return item(position, what === "u" ? "user" : "assistant");
  });
}
