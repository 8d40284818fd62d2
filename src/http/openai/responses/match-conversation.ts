/**
 * Says where an input that repeats a conversation goes on in it. Some clients name no response: they send all that was said, with names for
 * what the model said. Such an input continues a session only if all of it up to the model's last word is that session's conversation, word
 * for word. Pure.
 */
import type { DisplayItem } from "../../../contract/item";
import type { ExecutionId, SessionId } from "../../../domain/ids";
import { toItemName, toNameIn } from "../items/item-names";
import type { ReadPart } from "../items/read-content";
import { NO_OUTPUT } from "../items/read-items";
import type { ReadInput, ReadMessage } from "../items/transcript";

/** One of the names of a file: two sides mean the same file if they share one. */
export type FileNames = readonly string[];
type Piece = string | FileNames;

/** What was said, in the smallest parts that both sides tell apart. Reasoning is none of them: clients may leave it out. */
type Said =
  | { readonly kind: "message"; readonly role: "user" | "system"; readonly pieces: readonly Piece[] }
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "call"; readonly ids: readonly string[]; readonly name: string; readonly result: Result | null };

interface Result {
  readonly output: string;
}

/** A result as the client sent it. */
interface GivenResult extends Result {
  readonly field: string;
  readonly call_id: string;
  readonly is_error: boolean;
}
type Given = Exclude<Said, { kind: "call" }> | (Extract<Said, { kind: "call" }> & { readonly result: GivenResult | null });

/** With the message that it is a part of, by its place among the messages. */
type Known = Said & {
  readonly nth: number;
  readonly isServers?: boolean;
  /** The name of the request for approval that the call has waited with. */
  readonly request?: string;
};

type Part = { readonly type: string; readonly text?: string; readonly url?: string | undefined; readonly file_id?: string | undefined };

/** The names of the file that a part of a message holds. */
type NameFile<P> = (part: P) => FileNames;

/** Neighbouring texts are one: how they are cut into parts differs between clients. */
function toPieces<P extends Part>(parts: readonly P[], nameFile: NameFile<P>): Piece[] {
  const pieces: Piece[] = [];
  for (const part of parts) {
    const [last, text] = [pieces.at(-1), part.type === "text" ? (part.text ?? "") : null];
    if (text === null) pieces.push(nameFile(part));
    else if (typeof last === "string") pieces[pieces.length - 1] = last + text;
    else pieces.push(text);
  }
  return pieces;
}

const joinText = (parts: readonly Part[]): string => parts.map(({ type, text = "" }) => (type === "text" ? text : "")).join("");

/** Texts that follow each other are one, also those of several replies. A blank one says nothing. */
function joinTexts<S extends Said>(all: readonly S[]): S[] {
  const joined: S[] = [];
  for (const said of all) {
    const last = joined.at(-1);
    if (last?.kind === "text" && said.kind === "text") joined[joined.length - 1] = { ...said, text: last.text + said.text };
    else joined.push(said);
  }
  return joined.filter((said) => said.kind !== "text" || said.text.trim() !== "");
}

/** The part of the input up to the model's last word, and the messages behind it. */
export interface Repeated {
  readonly said: readonly Given[];
  readonly rest: readonly ReadMessage[];
  readonly approvals: ReadInput["approvals"];
}

/** Null when the model says nothing in the input. */
export function splitInput({ messages, results, approvals }: ReadInput, nameFile: NameFile<ReadPart["part"]>): Repeated | null {
  const last = messages.findLastIndex(({ role }) => role === "assistant");
  // A result without its call is of no conversation that the input repeats.
  if (last < 0 || results.length > 0) return null;
  const answers = messages.map((message) => (message.role === "tool" ? message : null));
  const said = messages.slice(0, last + 1).flatMap((message, index): Given[] => {
    if (message.role === "tool") return [];
    const parts = message.parts.map(({ part }) => part);
    if (message.role !== "assistant") return [{ kind: "message", role: message.role, pieces: toPieces(parts, nameFile) }];
    const calls = message.calls.map(({ call_id, name }): Given => {
      const place = answers.findIndex((answer, at) => at > index && answer?.call_id === call_id);
      const answer = answers[place] ?? null;
      if (answer) answers[place] = null;
      const result = answer && { field: answer.field, call_id, output: answer.output, is_error: answer.is_error };
      return { kind: "call", ids: [call_id], name, result };
    });
    return [{ kind: "text", text: joinText(parts) }, ...calls];
  });
  return { said: joinTexts(said), rest: messages.slice(last + 1).filter(({ role }) => role !== "tool"), approvals };
}

/** The session's conversation, from its beginning. */
interface KnownConversation {
  readonly session: SessionId;
  readonly messages: readonly DisplayItem[];
  readonly ranHere: ReadonlySet<ExecutionId>;
  /** The calls that waited for a person's approval. */
  readonly approvals: { has(id: ExecutionId): boolean };
  readonly nameFile: NameFile<DisplayItem["content"][number]>;
  /** A long output as the session keeps it. */
  readonly cut: (output: string) => string;
}

function splitKnown(conversation: KnownConversation): readonly Known[] {
  const { messages, nameFile } = conversation;
  const results = new Map(
    messages.flatMap((message) => (message.role === "tool" && message.execution_id ? [[message.execution_id, message] as const] : [])),
  );
  const said = messages.flatMap((message, nth): Known[] => {
    const { role, content, tool_calls = [] } = message;
    if (role === "tool") return [];
    if (role !== "assistant") return [{ kind: "message", role, pieces: toPieces(content, nameFile), nth }];
    const calls = tool_calls.map((call) => toKnownCall(call, { nth, result: results.get(call.execution_id) }, conversation));
    return [{ kind: "text", text: joinText(content), nth }, ...calls];
  });
  return joinTexts(said);
}

type Call = NonNullable<DisplayItem["tool_calls"]>[number];

function toKnownCall(
  { id, execution_id, call_id, name }: Call,
  { nth, result }: { readonly nth: number; readonly result: DisplayItem | undefined },
  { session, ranHere, approvals }: KnownConversation,
): Known {
  const isServers = ranHere.has(execution_id);
  const request = approvals.has(execution_id) ? toItemName({ prefix: "mcpr", session, id }) : null;
  const approved = request && result ? [toItemName({ prefix: "mcp", session, id: result.id })] : [];
  const ids = [call_id, ...(isServers ? [toItemName({ prefix: "mcp", session, id })] : []), ...(request ? [request, ...approved] : [])];
  const output = result ? joinText(result.content) : isServers ? NO_OUTPUT : null;
  return { kind: "call", ids, name, result: output === null ? null : { output }, nth, isServers, ...(request && { request }) };
}

const isSamePiece = (one: Piece, other: Piece): boolean =>
  typeof one === "string" || typeof other === "string" ? one === other : one.some((name) => other.includes(name));

const isSamePieces = (some: readonly Piece[], others: readonly Piece[]): boolean =>
  some.length === others.length &&
  some.every((one, index) => {
    const other = others[index];
    return other !== undefined && isSamePiece(one, other);
  });

/** Whether both say the same. The results of calls are compared apart. */
function isSame(given: Given, known: Known): boolean {
  if (given.kind === "message") return known.kind === "message" && given.role === known.role && isSamePieces(given.pieces, known.pieces);
  if (given.kind === "text") return known.kind === "text" && given.text === known.text;
  return known.kind === "call" && given.name === known.name && given.ids.some((id) => known.ids.includes(id));
}

function isSameResult(given: Given, known: Known, cut: KnownConversation["cut"]): boolean {
  if (given.kind !== "call" || known.kind !== "call") return true;
  const [theirs, ours] = [given.result?.output, known.result?.output];
  // Some clients keep no results of the server's calls, and one that asks for an approval has none yet.
  if (known.isServers && (theirs === undefined || theirs === NO_OUTPUT)) return true;
  return theirs === ours || (theirs !== undefined && ours !== undefined && cut(theirs) === ours);
}

/** How a comparison with the first messages of a conversation ended. */
export type Comparison =
  /** The conversation is another one. */
  | { readonly outcome: "differs" }
  /** The input says more than these messages. */
  | { readonly outcome: "longer" }
  /**
   * `nth`: the reply that the repeated part ends with, by its place. `results`: those of its calls that the client ran. `approvals`: all but
   * those that the conversation has gone on behind.
   */
  | { readonly outcome: "same"; readonly nth: number; readonly results: ReadInput["results"]; readonly approvals: ReadInput["approvals"] };

/** `isWhole`: the conversation ends with these messages. */
export function compareInput({ said, approvals }: Repeated, conversation: KnownConversation, isWhole: boolean): Comparison {
  const known = splitKnown(conversation);
  // More may follow that belongs to the last message.
  const stable = isWhole ? known : known.filter(({ nth }) => nth < (known.at(-1)?.nth ?? 0));
  const count = Math.min(said.length, stable.length);
  const last = known[said.length - 1];
  const isNew = (each: Known): boolean => each.nth === last?.nth && each.kind === "call" && !each.isServers;
  for (const [index, given] of said.slice(0, count).entries()) {
    const ours = known[index];
    if (!ours || !isSame(given, ours)) return { outcome: "differs" };
    if (!isNew(ours) && !isSameResult(given, ours, conversation.cut)) return { outcome: "differs" };
  }
  if (count < said.length) return { outcome: isWhole ? "differs" : "longer" };
  // The reply says more than the input repeats of it.
  if (!last || last.kind === "message" || known[said.length]?.nth === last.nth) return { outcome: "differs" };
  const results = said.flatMap((given, index) => {
    const ours = known[index];
    return given.kind === "call" && given.result && ours && isNew(ours) ? [toNewResult(given.result)] : [];
  });
  const earlier = new Set(known.flatMap(({ nth, request }) => (request !== undefined && nth < last.nth ? [request] : [])));
  const isOpen = ({ request }: ReadInput["approvals"][number]): boolean => !earlier.has(toNameIn(conversation.session, request) ?? request);
  return { outcome: "same", nth: last.nth, results, approvals: approvals.filter(isOpen) };
}

const toNewResult = ({ field, call_id, output, is_error }: GivenResult): ReadInput["results"][number] => ({
  field,
  result: { execution_id: null, call_id, output, is_error },
});
