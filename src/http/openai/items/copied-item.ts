/** What an item of a session says, taken from its message, so that another conversation can hold it. Pure. */
import type { NamedMessage } from "../../../app/named-api";
import type { ImportedCall } from "../../../app/written-message";
import type { DisplayItem } from "../../../contract/item";
import type { ItemId, SessionId } from "../../../domain/ids";
import type { ItemName } from "./item-names";
import { joinAlike } from "./items";

type Part = DisplayItem["content"][number];

/** With the id of its call. */
interface CopiedResult {
  readonly call_id: string;
  readonly output: string;
  readonly is_error: boolean;
}

/** `reply`: the message that the item is a part of, wherever the others of its parts are. */
type Copied =
  | { readonly kind: "message"; readonly role: "user" | "system"; readonly parts: readonly Part[] }
  | { readonly kind: "said"; readonly reply: ItemId; readonly parts: readonly Part[]; readonly incomplete: boolean }
  | {
      readonly kind: "call";
      readonly reply: ItemId;
      /** The call's own id. */
      readonly item: ItemId;
      readonly call: ImportedCall;
      readonly incomplete: boolean;
      /** `none`: the server has not ended the call, or its result was lost. Null: the client's call, whose result is an item of its own. */
      readonly result: CopiedResult | "none" | null;
    }
  | { readonly kind: "result"; readonly result: CopiedResult };

/** A reference of an input, with what it stands for. No JSON of a client is an instance of it. */
export class CopiedItem {
  readonly session: SessionId;
  readonly message: ItemId;
  /** A branch of the session that has the message. */
  readonly branch: number;
  /** Null: the item is in the input already, or the model reads it at the place that the request continues. */
  readonly copied: Copied | null;
  /** The request for approval whose call the item is, once it has run. Null: it is another item. */
  readonly approved: string | null;

  constructor(given: Pick<CopiedItem, "session" | "message" | "branch" | "copied" | "approved">) {
    this.session = given.session;
    this.message = given.message;
    this.branch = given.branch;
    this.copied = given.copied;
    this.approved = given.approved;
  }
}

/** What an item says. `none`: it says nothing without another one. Null when the message has no such item, or its content was redacted. */
export function copyItem(named: NamedMessage, name: Pick<ItemName, "prefix" | "id" | "nth">): Copied | "none" | null {
  const { message } = named;
  switch (name.prefix) {
    case "msg":
    case "rs":
      return name.id === message.id ? copyParts(named, name) : null;
    case "fc":
      return copyCall(named, name);
    case "mcp":
      return message.role === "tool" ? copyApproved(named, name) : copyCall(named, name);
    case "mcpr":
      return findApproval(named, name) ? copyCall(named, name) : null;
    case "fco":
      return copyResult(named, name);
    case "mcpa":
      return findApproval(named, name)?.is_answered ? "none" : null;
  }
}

function findApproval({ message, approvals, redacted }: NamedMessage, { id, nth }: Pick<ItemName, "id" | "nth">) {
  const call = message.tool_calls?.find((each) => each.id === id);
  if (!call || nth > 1 || redacted.includes(id)) return undefined;
  return approvals.find(({ execution_id }) => execution_id === call.execution_id);
}

/** A call that a person approved has the name of its result. */
function copyApproved({ message, reply, ...named }: NamedMessage, { id, nth }: Pick<ItemName, "id" | "nth">): Copied | null {
  const { execution_id } = message;
  const call = reply?.tool_calls?.find((each) => each.execution_id === execution_id);
  const isAsked = named.approvals.some((each) => each.execution_id === execution_id);
  if (!reply || !call || !isAsked || id !== message.id) return null;
  return copyCall({ ...named, message: reply, reply: null, results: [message] }, { prefix: "mcp", id: call.id, nth });
}

/** A name finds its part of a reply by the order of the parts. A redaction may change that order, so that no part is copied after one. */
function copyParts({ message, redacted, results }: NamedMessage, { prefix, nth }: Pick<ItemName, "prefix" | "nth">): Copied | null {
  const { id: reply, role, content, incomplete, tool_calls: calls = [] } = message;
  const isResult = (id: ItemId): boolean => results.some((result) => result.id === id);
  if (role === "tool" || redacted.some((id) => !isResult(id))) return null;
  if (role !== "assistant") return prefix === "msg" && nth === 1 ? { kind: "message", role, parts: content } : null;
  const runs = joinAlike(content).filter(({ isReasoning }) => isReasoning === (prefix === "rs"));
  // A reply that was cut off before its first word is an item all the same.
  const isBegun = prefix === "msg" && nth === 1 && content.length === 0 && calls.length === 0;
  const parts = runs[nth - 1]?.parts ?? (isBegun ? [] : null);
  return parts && { kind: "said", reply, parts, incomplete };
}

function copyCall({ message, ran_here, results, redacted }: NamedMessage, { prefix, id, nth }: Pick<ItemName, "prefix" | "id" | "nth">) {
  const found = message.tool_calls?.find((each) => each.id === id);
  const isServers = found !== undefined && ran_here.includes(found.execution_id);
  if (!found || nth > 1 || redacted.includes(id) || isServers !== (prefix !== "fc")) return null;
  const { call_id, name, arguments: written, execution_id } = found;
  const result = isServers ? results.find((each) => each.execution_id === execution_id) : undefined;
  if (result && redacted.includes(result.id)) return null;
  const call = { call_id, name, arguments: written };
  return {
    kind: "call",
    reply: message.id,
    item: id,
    call,
    incomplete: message.incomplete,
    result: result ? toResult(result) : isServers ? "none" : null,
  } as const;
}

/** The result of a call that the server ran is a part of the call's item. */
function copyResult({ message, ran_here, redacted }: NamedMessage, { id, nth }: Pick<ItemName, "id" | "nth">): Copied | null {
  const { role, execution_id } = message;
  const isServers = execution_id !== undefined && ran_here.includes(execution_id);
  const isThere = id === message.id && nth === 1 && role === "tool" && !isServers && !redacted.includes(id);
  return isThere ? { kind: "result", result: toResult(message) } : null;
}

const toResult = ({ call_id = "", content, is_error = false }: DisplayItem): CopiedResult => ({
  call_id,
  output: content.map((part) => (part.type === "text" ? part.text : "")).join(""),
  is_error,
});
