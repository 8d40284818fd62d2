/** OpenAI's items and our messages: what goes there comes back. Pure, for random conversations. */
import fc from "fast-check";
import type { ConversationItem } from "openai/resources/conversations/items";
import { describe, expect, it } from "vitest";
import type { DisplayItem } from "../../../src/contract/item";
import { CopiedItem, copyItem } from "../../../src/http/openai/items/copied-item";
import { parseItemName } from "../../../src/http/openai/items/item-names";
import type { OpenAiItem } from "../../../src/http/openai/items/item-types";
import { toOpenAiItems } from "../../../src/http/openai/items/items";
import { FILES_FOLLOW, NO_OUTPUT, readInputItems } from "../../../src/http/openai/items/read-items";
import { makeId } from "../support";
import { type Call, conversation, type Said, type Shown, show } from "./random-conversation";

/** What both sides know of a message. The parts of a reply come before its calls. A server's call has a result when it is read. */
const reduce = ({ messages, ranHere }: Shown) => {
  const results = new Map(messages.flatMap((message) => (message.execution_id ? [[message.execution_id, message] as const] : [])));
  return messages.flatMap((message) => {
    const answers = (message.tool_calls ?? []).flatMap(({ execution_id, call_id }) => {
      const result = results.get(execution_id);
      if (result) return reduceAll([result]);
      return ranHere.has(execution_id) ? [{ role: "tool" as const, call_id, output: NO_OUTPUT, is_error: true }] : [];
    });
    return message.role === "tool" ? [] : [...reduceAll([message]), ...answers];
  });
};

const reduceAll = (messages: readonly DisplayItem[]) =>
  messages.map(({ role, content, tool_calls = [], call_id, is_error, incomplete }) =>
    role === "tool"
      ? { role, call_id, output: content.map((part) => ("text" in part ? part.text : "")).join(""), is_error }
      : {
          role,
          content: content.map((part) => (part.type === "image" && "name" in part ? { ...part, name: undefined } : part)),
          calls: tool_calls.map(({ call_id: id, name, arguments: given }) => ({ call_id: id, name, arguments: given })),
          incomplete,
        },
  );

function read(items: unknown) {
  const result = readInputItems(items, "items");
  if (!result.ok) throw new Error(JSON.stringify(result.error));
  return result.value;
}

const reduceRead = (items: unknown) =>
  read(items).messages.map((message) => {
    const { role } = message;
    if (role === "tool") return { role, call_id: message.call_id, output: message.output, is_error: message.is_error };
    return { role, content: message.parts.map(({ part }) => part), calls: message.calls, incomplete: message.incomplete };
  });

/** A reply of server calls alone has no item that could say that it was cut off. */
const isToldIncomplete = ({ messages, ranHere }: Shown): boolean =>
  messages.every(
    ({ role, incomplete, content, tool_calls = [] }) =>
      role !== "assistant" || !incomplete || content.length > 0 || tool_calls.some(({ execution_id }) => !ranHere.has(execution_id)),
  );

describe("messages as items, and back", () => {
  it("are the same messages, in any language", () => {
    fc.assert(
      fc.property(conversation.map(show).filter(isToldIncomplete), (shown) => {
        const items = toOpenAiItems(shown.messages, shown);

        expect(reduceRead(items)).toEqual(reduce(shown));
      }),
    );
  });

  it("are the same items again", () => {
    fc.assert(
      fc.property(conversation.map(show).filter(isToldIncomplete), (shown) => {
        const items = toOpenAiItems(shown.messages, shown);
        const again = show(
          reduceRead(items).flatMap((message): Said[] =>
            message.role === "tool"
              ? []
              : [{ role: message.role, content: message.content, incomplete: message.incomplete, calls: toCalls(message.calls, items) }],
          ),
        );

        expect(toOpenAiItems(again.messages, again)).toEqual(items);
      }),
    );
  });

  it("say in one item of a reply that was cut off, its last, that it was", () => {
    const shown = show([
      {
        role: "assistant",
        content: [
          { type: "reasoning", text: "Hm." },
          { type: "text", text: "In Lis" },
        ],
        calls: [],
        incomplete: true,
      },
    ]);

    expect(toOpenAiItems(shown.messages, shown)).toMatchObject([
      { type: "reasoning", status: "completed" },
      { type: "message", status: "incomplete" },
    ]);
  });

  it("have names of their own, each once", () => {
    fc.assert(
      fc.property(conversation.map(show), (shown) => {
        const names = toOpenAiItems(shown.messages, shown).map(({ id }) => id);

        expect(new Set(names).size).toBe(names.length);
      }),
    );
  });

  it("are what OpenAI's package takes for items", () => {
    const shown = show([{ role: "user", content: [{ type: "text", text: "x" }], calls: [], incomplete: false }]);
    const items: readonly OpenAiItem[] = toOpenAiItems(shown.messages, shown);
    const theirs: readonly ConversationItem[] = items.map((item): ConversationItem => structuredClone(toMutable(item)));

    expect(theirs).toEqual(items);
  });
});

/** The package's types have no readonly lists. */
type Mutable<T> = T extends object ? { -readonly [K in keyof T]: Mutable<T[K]> } : T;
const toMutable = (item: OpenAiItem): Mutable<OpenAiItem> => item as Mutable<OpenAiItem>;

function toCalls(
  calls: readonly { readonly call_id: string; readonly name: string; readonly arguments: string }[],
  items: readonly OpenAiItem[],
): Call[] {
  return calls.map(({ call_id, name, arguments: given }) => {
    const server = items.find((item) => item.type === "mcp_call" && item.id === call_id);
    const output = items.find((item) => item.type === "function_call_output" && item.call_id === call_id);
    if (server?.type === "mcp_call") {
      const failed = server.error?.content.map((each) => each.text).join("") ?? null;
      return { name, given, isServer: true, output: server.output ?? failed, is_error: failed !== null };
    }
    const said = output?.type === "function_call_output" ? output : null;
    return { call_id, name, given, isServer: false, output: said?.output ?? null, is_error: said?.status === "incomplete" };
  });
}

/** The items as references that were found. Null: one of them was not. */
function refer({ messages, ranHere, session }: Shown, items: readonly OpenAiItem[]): readonly CopiedItem[] | null {
  const copied = items.map(({ id: given }) => {
    const name = parseItemName(given);
    const message = messages.find(({ id, tool_calls = [] }) =>
      [id, ...tool_calls.map((each) => each.id)].some((each) => each === name?.id),
    );
    if (!name || !message) return null;
    const calls = message.tool_calls?.map(({ execution_id }) => execution_id) ?? [];
    const ran_here = [...calls, ...(message.execution_id ? [message.execution_id] : [])].filter((id) => ranHere.has(id));
    const results = messages.filter(({ execution_id }) => execution_id !== undefined && calls.includes(execution_id));
    const found = copyItem({ message, branch: 1, is_there: false, ran_here, approvals: [], results, reply: null, redacted: [] }, name);
    return found && found !== "none" && new CopiedItem({ session, message: message.id, branch: 1, copied: found, approved: null });
  });
  return copied.every((each) => each instanceof CopiedItem) ? copied : null;
}

describe("references to all items", () => {
  it("are the same messages", () => {
    fc.assert(
      fc.property(conversation.map(show), (shown) => {
        expect(reduceRead(refer(shown, toOpenAiItems(shown.messages, shown)))).toEqual(reduce(shown));
      }),
    );
  });

  it("find nothing by the name of another kind or part", () => {
    fc.assert(
      fc.property(
        conversation.map(show),
        fc.constantFrom("msg", "rs", "fc", "fco", "mcp"),
        fc.integer({ min: 1, max: 6 }),
        (shown, prefix, nth) => {
          const items = toOpenAiItems(shown.messages, shown);
          const known = new Set(items.map(({ id }) => id));
          for (const item of items) {
            const other = `${prefix}_${item.id.replace(/^[a-z]+_|_\d+$/g, "")}${nth > 1 ? `_${nth}` : ""}`;
            if (!known.has(other)) expect(refer(shown, [{ ...item, id: other }])).toBeNull();
          }
        },
      ),
    );
  });
});

describe("items that clients write", () => {
  it("of which reasoning, text and calls that follow each other are one reply", () => {
    const items = [
      { role: "user", content: "Weather?" },
      { type: "reasoning", id: "rs_1", summary: [{ type: "summary_text", text: "Look." }] },
      { type: "function_call", call_id: "a", name: "look", arguments: "{}" },
      { type: "reasoning", id: "rs_2", summary: [], encrypted_content: "opaque" },
      { type: "function_call", call_id: "b", name: "look", arguments: "{}" },
      { type: "function_call_output", call_id: "b", output: "2" },
      { type: "function_call_output", call_id: "a", output: [{ type: "input_text", text: "1" }] },
      { role: "assistant", content: "Sun." },
      { role: "assistant", content: [{ type: "output_text", text: "And wind.", annotations: [] }] },
    ];

    expect(reduceRead(items)).toEqual([
      { role: "user", content: [{ type: "text", text: "Weather?" }], calls: [], incomplete: false },
      {
        role: "assistant",
        content: [{ type: "reasoning", text: "Look." }],
        calls: [
          { call_id: "a", name: "look", arguments: "{}" },
          { call_id: "b", name: "look", arguments: "{}" },
        ],
        incomplete: false,
      },
      { role: "tool", call_id: "a", output: "1", is_error: false },
      { role: "tool", call_id: "b", output: "2", is_error: false },
      { role: "assistant", content: [{ type: "text", text: "Sun." }], calls: [], incomplete: false },
      { role: "assistant", content: [{ type: "text", text: "And wind." }], calls: [], incomplete: false },
    ]);
  });

  it("of which a result follows its call, wherever it was written, and one without a call is told apart", () => {
    const { messages, results, unanswered } = read([
      { type: "function_call", call_id: "a", name: "look", arguments: "{}" },
      { type: "function_call", call_id: "c", name: "look", arguments: "{}" },
      { role: "developer", content: "Hurry." },
      { type: "function_call_output", call_id: "a", output: "1" },
      { type: "function_call_output", call_id: "b", output: "2", status: "incomplete" },
    ]);

    expect(messages.map(({ role }) => role)).toEqual(["assistant", "tool", "system"]);
    expect(results).toEqual([{ field: "items.4", result: { execution_id: null, call_id: "b", output: "2", is_error: true } }]);
    expect(unanswered).toEqual(["c"]);
  });

  it("of which a result's files follow all results of the reply, and those of an earlier reply come first", () => {
    const image = { type: "input_image", image_url: "https://x.example/a.png" };
    const { messages, results } = read([
      { type: "function_call", call_id: "a", name: "look", arguments: "{}" },
      { type: "function_call", call_id: "b", name: "look", arguments: "{}" },
      { type: "function_call_output", call_id: "b", output: [image, { type: "input_text", text: "二" }] },
      { type: "function_call_output", call_id: "a", output: [{ type: "input_text", text: "1" }] },
      { type: "function_call_output", call_id: "c", output: [image, { type: "input_file", file_id: makeId("fil") }], status: "incomplete" },
      { role: "user", content: "And?" },
    ]);

    const said = messages.map((message) =>
      message.role === "tool" ? message.output : message.parts.map(({ part }) => ("text" in part ? part.text : part.type)).join("|"),
    );
    const label = (call: string): string => `Files of the result of call ${call}:`;
    expect(said).toEqual([`${label("c")}|image|file`, "", "1", "二", `${label("b")}|image`, "And?"]);
    expect(results).toMatchObject([{ result: { call_id: "c", output: FILES_FOLLOW, is_error: true } }]);
  });

  it.each([
    [
      "a file by address",
      { type: "input_file", file_url: "https://x.example/a.md" },
      { url: "https://x.example/a.md", media_type: "text/markdown" },
    ],
    [
      "a file as base64 alone",
      { type: "input_file", file_data: "aGk=", filename: "a.txt" },
      { url: "data:text/plain;base64,aGk=", name: "a.txt" },
    ],
    ["an image as a data URL", { type: "input_image", image_url: "data:image/png;base64,aGk=" }, { url: "data:image/png;base64,aGk=" }],
    ["a stored image", { type: "input_image", file_id: makeId("fil"), image_url: null }, { file_id: makeId("fil") }],
  ])("may hold %s", (_, part, expected) => {
    expect(read([{ role: "user", content: [part] }]).messages).toMatchObject([{ parts: [{ part: expected }] }]);
  });

  it.each([
    [[{ role: "user", content: [{ type: "input_image", image_url: "ftp://x" }] }], "items.0.content.0.image_url"],
    [[{ role: "user", content: [{ type: "input_text", text: "a" }, { type: "input_audio" }] }], "items.0.content.1.type"],
    [[{ role: "user", content: [{ type: "input_file" }] }], "items.0.content.0.file_id"],
    [[{ role: "user", content: [{ type: "input_file", file_id: "file-abc" }] }], "items.0.content.0.file_id"],
    [[{ role: "user", content: [{ type: "input_text" }] }], "items.0.content.0.text"],
    [[{ role: "user", content: " " }], "items.0.content"],
    [[{ role: "user" }], "items.0.content"],
    [[{ role: "critic", content: "x" }], "items.0.role"],
    [[{ role: "assistant", content: [{ type: "input_image", image_url: "https://x.example/a.png" }] }], "items.0.content.0.image_url"],
    [[{ role: "user", content: "a" }, 7], "items.1"],
    [[{ type: "web_search_call", id: "ws_1" }], "items.0.type"],
    [[{ type: "function_call", call_id: "", name: "look", arguments: "{}" }], "items.0.call_id"],
    [[{ type: "function_call", call_id: "a", name: "a name", arguments: "{}" }], "items.0.name"],
    [[{ type: "function_call_output", output: "x" }], "items.0.call_id"],
    [
      [{ type: "function_call_output", call_id: "a", output: [{ type: "input_image", image_url: "ftp://x" }] }],
      "items.0.output.0.image_url",
    ],
    [[{ type: "function_call_output", call_id: "a", output: [{ type: "input_audio" }] }], "items.0.output.0.type"],
    [[{ type: "function_call_output", call_id: "a", output: { text: "a" } }], "items.0.output"],
    [
      [
        {
          type: "function_call_output",
          call_id: "a",
          output: Array(128).fill({ type: "input_image", image_url: "https://x.example/a.png" }),
        },
      ],
      "items.0.output",
    ],
    [[{ type: "mcp_approval_response", approval_request_id: "mcpr_1" }], "items.0.approve"],
    [" ", "items"],
    [7, "items"],
  ])("are refused by name: %j", (items, field) => {
    expect(readInputItems(items, "items")).toMatchObject({ ok: false, error: { field } });
  });

  it("may be a request for an approval, its answer and the call, which are over; another answer is told apart", () => {
    const answer = { type: "mcp_approval_response", approval_request_id: "mcpr_1", approve: true };
    const { approvals, messages } = read([
      { type: "mcp_approval_request", id: "mcpr_1", server_label: "longhand", name: "look", arguments: "{}" },
      answer,
      { type: "mcp_call", id: "mcp_1", name: "look", arguments: "{}", output: "seen", approval_request_id: "mcpr_1" },
      { ...answer, approval_request_id: "mcpr_2", approve: false, reason: "不" },
    ]);
    expect(messages.map(({ role }) => role)).toEqual(["assistant", "tool"]);
    expect(approvals).toEqual([{ field: "items.3", request: "mcpr_2", approve: false, reason: "不" }]);
  });

  it("may be of every kind that says nothing here", () => {
    expect(
      read([
        { role: "assistant", content: "" },
        { type: "reasoning", summary: [] },
        { type: "mcp_list_tools", id: "x" },
      ]).messages,
    ).toEqual([]);
  });
});
