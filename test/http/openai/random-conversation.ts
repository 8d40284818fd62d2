/** Random conversations, as a session lists them. */
import fc from "fast-check";
import type { DisplayItem } from "../../../src/contract/item";
import type { ExecutionId, SessionId } from "../../../src/domain/ids";
import { toItemName } from "../../../src/http/openai/items/item-names";
import type { WhoRuns } from "../../../src/http/surface/read-runs";
import { makeId, NOW, SESSION } from "../support";

export const text = fc.constantFrom(
  "hello",
  "你好，世界",
  "🙂 ok",
  "a\nb",
  "  spaced  ",
  '{"json":true}',
  "שלום",
  "\u0000 nul",
  "[redacted]",
  "x".repeat(9_000),
);
const said = text.map((each) => ({ type: "text" as const, text: each }));
const thought = text.map((each) => ({ type: "reasoning" as const, text: each }));
const media = fc.constantFrom(
  { type: "image" as const, url: "https://example.com/a.png?size=2", media_type: "image/png" },
  { type: "image" as const, url: "https://example.com/b", media_type: "image/*" },
  { type: "image" as const, file_id: makeId("fil", 7) },
  { type: "file" as const, url: "https://example.com/ä.pdf", media_type: "application/pdf", name: "Bericht ä.pdf" },
  { type: "file" as const, url: "https://example.com/notes", media_type: "text/csv", name: "表.csv" },
  { type: "file" as const, file_id: makeId("fil", 8), name: "c.txt" },
);

/** One call of a reply. `output` null: it has no result. */
export interface Call {
  /** Absent: by its place. */
  readonly call_id?: string;
  readonly name: string;
  readonly given: string;
  readonly output: string | null;
  readonly is_error: boolean;
  readonly isServer: boolean;
}
export interface Said {
  readonly role: "user" | "system" | "assistant";
  readonly content: readonly { readonly type: string; readonly text?: string; readonly url?: string | undefined }[];
  readonly calls: readonly Call[];
  readonly incomplete: boolean;
}

const call: fc.Arbitrary<Call> = fc.record({
  name: fc.constantFrom("look", "files__read", "a-b"),
  given: fc.constantFrom("{}", '{"city":"里斯本"}', "not json", ""),
  output: fc.option(text),
  is_error: fc.boolean(),
  isServer: fc.boolean(),
});
/** A server's call ends a reply, unless the reply waits for a call of the client. */
function toOneReply(calls: readonly Call[]): Call[] {
  const waiting = calls.filter(({ isServer }) => !isServer);
  const ended = calls.filter((each) => !waiting.includes(each));
  return waiting.length > 0 ? [...waiting, ...ended] : ended.slice(0, 1);
}

/** A reply without text or calls joins the next one, so that each has one of both. */
const reply = fc
  .record({
    content: fc.array(fc.oneof(said, thought), { maxLength: 5 }),
    calls: fc.array(call, { maxLength: 4 }).map(toOneReply),
    incomplete: fc.boolean(),
  })
  .filter(({ content, calls }) => calls.length > 0 || content.some((part) => part.type === "text" && part.text.trim() !== ""));
const spoken: fc.Arbitrary<Said> = fc
  .oneof(
    fc.record({ role: fc.constant("user" as const), content: fc.array(fc.oneof(said, media), { minLength: 1, maxLength: 4 }) }),
    fc.record({ role: fc.constant("system" as const), content: fc.array(said, { minLength: 1, maxLength: 2 }) }),
  )
  .map((each) => ({ ...each, calls: [], incomplete: false }));
/** Replies never follow one another directly: which items belong to which is told by what is between them. */
export const conversation = fc
  .array(fc.tuple(spoken, fc.option(reply)), { maxLength: 6 })
  .map((pairs) => pairs.flatMap(([first, then]): Said[] => (then ? [first, { role: "assistant" as const, ...then }] : [first])));

export interface Shown {
  readonly session: SessionId;
  readonly messages: readonly DisplayItem[];
  readonly ranHere: ReadonlySet<ExecutionId>;
  readonly approvals: WhoRuns["approvals"];
}

/** The conversation as a session lists it. */
export function show(conversation: readonly Said[]): Shown {
  const ranHere = new Set<ExecutionId>();
  const messages: DisplayItem[] = [];
  let position = 0;
  const toItem = (changes: Pick<DisplayItem, "role" | "content"> & Partial<DisplayItem>): DisplayItem => ({
    id: makeId("msg", ++position),
    position,
    name: null,
    client_id: null,
    metadata: {},
    turn_id: null,
    created_at: NOW,
    recorded_at: NOW,
    incomplete: false,
    tokens: { tokens: 1, source: "estimated", error_bound: 0 },
    ...changes,
  });
  for (const { role, content, calls, incomplete } of conversation) {
    const message = toItem({ role, content: content as unknown as DisplayItem["content"], incomplete });
    const listed = calls.map(({ call_id: own, name, given, isServer }) => {
      const execution_id = makeId("exe", ++position);
      if (isServer) ranHere.add(execution_id);
      return {
        id: makeId("msg", position),
        position,
        execution_id,
        call_id: isServer ? toItemName({ prefix: "mcp", session: SESSION, id: makeId("msg", position) }) : (own ?? `call_${position}`),
        name,
        arguments: given,
      };
    });
    messages.push(listed.length > 0 ? { ...message, tool_calls: listed } : message);
    for (const [index, { output, is_error }] of calls.entries()) {
      const asked = listed[index];
      if (output === null || !asked) continue;
      const { call_id, execution_id, name } = asked;
      messages.push(toItem({ role: "tool", content: [{ type: "text", text: output }], call_id, execution_id, tool_name: name, is_error }));
    }
  }
  return { session: SESSION, messages, ranHere, approvals: new Map() };
}
