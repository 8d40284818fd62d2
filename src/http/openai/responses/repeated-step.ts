/**
 * Leaves out of an input what its conversation has. `@ai-sdk/openai` names the conversation, and sends with the results of each step all
 * that it has said since, the first message and the results of earlier steps, but nothing of what the model said.
 */
import type { EndItem } from "../../../app/respond-api";
import type { ToolCallView } from "../../../contract/tool";
import type { SessionCalls } from "../../session-calls";
import { readRuns, sortRuns } from "../../surface/read-runs";
import type { ReadInput, ReadMessage } from "../items/transcript";
import { findApprovals } from "./find-approvals";
import { mayRepeat, type Reading } from "./read-end";

/** What a client says, so far as it is compared. */
type Said =
  | { readonly role: "user" | "system"; readonly text: string; readonly files: number }
  | { readonly call_id: string | null }
  | { readonly request: string };
type Placed = Said & { readonly at: number };

/** An input that answers no open call stays as it is. */
export async function leaveOutRepeated({ calls, readEnd }: Reading, given: ReadInput): Promise<ReadInput> {
  if (!mayRepeat(given)) return given;
  const end = await readEnd();
  if (!end.ok) return given;
  const { results, approvals } = given;
  const open = end.value.turn?.open_calls ?? [];
  const pending = await findPending(calls, { approvals, open });
  if (pending.length === 0 && !results.some(({ result }) => open.some(({ call_id }) => call_id === result.call_id))) return given;
  const input = { ...given, approvals: pending.length > 0 ? pending : approvals };
  const known = await listSaid(calls, end.value.items);
  return known ? withoutRepeated(input, known) : input;
}

/** What clients said at the end of the conversation, in order. Null: it cannot be read. */
async function listSaid(calls: SessionCalls, newest: readonly EndItem[]): Promise<readonly Said[] | null> {
  const runs = await readRuns(calls, newest);
  if (!runs.ok) return null;
  const { ranHere } = sortRuns(runs.value);
  return newest.flatMap((message) => (message.execution_id && ranHere.has(message.execution_id) ? [] : toKnown(message)));
}

interface Pending {
  readonly approvals: ReadInput["approvals"];
  readonly open: readonly ToolCallView[];
}

/** Without the approvals of earlier steps. Empty: no call waits for one. */
async function findPending(calls: SessionCalls, { approvals, open }: Pending): Promise<ReadInput["approvals"]> {
  const waiting = new Set(open.flatMap(({ id, approval }) => (approval === "pending" ? [id] : [])));
  if (waiting.size === 0) return [];
  const found = await Promise.all(approvals.map((approval) => findApprovals(calls, [approval])));
  return approvals.filter((_, index) => {
    const each = found[index];
    // One that is none is refused later.
    return !each?.ok || each.value.some(({ execution_id }) => waiting.has(execution_id));
  });
}

function withoutRepeated(input: ReadInput, known: readonly Said[]): ReadInput {
  const given = listGiven(input);
  for (let count = Math.min(known.length, given.length - 1); count > 0; count--) {
    const end = known.slice(-count);
    const isRepeated = given.slice(0, count).every((each, index) => isSame(each, end[index]));
    const next = given[count];
    if (isRepeated && next && isAnswer(next)) return startAt(input, next.at);
  }
  return input;
}

function toKnown({ role, content, call_id }: EndItem): Said[] {
  if (role === "tool") return [{ call_id: call_id ?? null }];
  return role === "assistant" ? [] : [{ role, ...toText(content) }];
}

/** What the client said, in order. */
function listGiven({ messages, results, approvals }: ReadInput): readonly Placed[] {
  const said = messages.flatMap((message): Placed[] => {
    const at = readPlace(message.field);
    if (message.role === "tool") return [{ call_id: message.call_id, at }];
    if (message.role === "assistant") return [];
    return [{ role: message.role, ...toText(message.parts.map(({ part }) => part)), at }];
  });
  const answers = results.map(({ field, result }): Placed => ({ call_id: result.call_id, at: readPlace(field) }));
  const approved = approvals.map(({ field, request }): Placed => ({ request, at: readPlace(field) }));
  return [...said, ...answers, ...approved].toSorted((one, other) => one.at - other.at);
}

/** `input.4.output` is at 4. A text in place of a list is all there is. */
const readPlace = (field: string): number => Number(/\d+/.exec(field)?.[0] ?? 0);

function toText(parts: readonly { readonly type: string; readonly text?: string }[]): { readonly text: string; readonly files: number } {
  const texts = parts.filter(({ type }) => type === "text");
  return { text: texts.map(({ text = "" }) => text).join(""), files: parts.length - texts.length };
}

const isAnswer = (said: Said): boolean => !("role" in said);

function isSame(one: Said, other: Said | undefined): boolean {
  if (!other) return false;
  if ("call_id" in one) return "call_id" in other && one.call_id === other.call_id;
  return "role" in one && "role" in other && one.role === other.role && one.text === other.text && one.files === other.files;
}

function startAt(input: ReadInput, first: number): ReadInput {
  const isNew = ({ field }: Pick<ReadMessage, "field">): boolean => readPlace(field) >= first;
  return { ...input, messages: input.messages.filter(isNew), results: input.results.filter(isNew) };
}
