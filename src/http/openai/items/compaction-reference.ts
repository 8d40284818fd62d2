/**
 * Reads what a compaction of a stored response stands for: what the model could read as the response began. Later compactions, messages and
 * rewinds change nothing of it, and what was redacted since is gone.
 */
import type { NamedMessage } from "../../../app/named-api";
import type { SessionId } from "../../../domain/ids";
import { ok, type Result } from "../../../lib/result";
import type { Asker, HttpDeps } from "../../deps";
import type { HttpError } from "../../problem";
import { sessionClient } from "../../session-calls";
import { OpenedItems, toInput } from "./compaction-item";
import { CopiedItem, copyItem } from "./copied-item";
import { type CompactionName, parseItemName } from "./item-names";
import { toOpenAiItems } from "./items";
import { type ReferencePlace, readSession } from "./references";

type Read<T> = Promise<Result<T, HttpError>>;

const UNKNOWN: ReadonlySet<HttpError["code"]> = new Set(["session_not_found", "session_erased", "turn_not_found"]);

/** Null: the response is gone, or the caller must not read it. Empty where the model reads all of it at the place of the request. */
export async function readReference(
  c: Asker,
  deps: HttpDeps,
  { session, turn, place }: CompactionName & { readonly place: ReferencePlace | null },
): Read<OpenedItems | null> {
  const start = await sessionClient(deps, c, session).repeatable((api, caller) => api.contextAtStart(caller, turn));
  if (!start.ok) return UNKNOWN.has(start.error.code) ? ok(null) : start;
  const { summary, messages } = start.value;
  const found = await readSession(c, deps, { session, ids: messages, place });
  if (!found.ok) return found;
  const read = messages.flatMap((id) => found.value.get(id) ?? []);
  // The turn's question is the newest: where the model reads that, it reads the summary too, or a later one.
  if (read.at(-1)?.is_there) return ok(new OpenedItems([]));
  const items = closeCalls(read.flatMap((each) => copyMessage(session, each)));
  const position = read.at(-1)?.message.position;
  return ok(new OpenedItems(toInput({ summary, items }), position === undefined ? null : { session, turn, position }));
}

/** All that the message says, but for what was redacted. */
function copyMessage(session: SessionId, named: NamedMessage): readonly CopiedItem[] {
  const { message, branch, is_there, results, ran_here } = named;
  if (is_there) return [];
  const items = toOpenAiItems([message, ...results], { session, ranHere: new Set(ran_here), approvals: new Map() });
  return items.flatMap(({ id }) => {
    const name = parseItemName(id);
    const copied = name && copyItem(named, name);
    return copied && copied !== "none" ? [new CopiedItem({ session, message: message.id, branch, copied, approved: null })] : [];
  });
}

/** Without a result of a redacted call, and with one for each call whose result never came or was redacted. */
function closeCalls(items: readonly CopiedItem[]): readonly CopiedItem[] {
  const copied = items.flatMap((item) => item.copied ?? []);
  const called = new Set(copied.flatMap((each) => (each.kind === "call" ? [each.call.call_id] : [])));
  const answered = new Set(copied.flatMap((each) => (each.kind === "result" ? [each.result.call_id] : [])));
  return items.flatMap((item) => {
    const { copied: each } = item;
    if (each?.kind === "result" && !called.has(each.result.call_id)) return [];
    if (each?.kind !== "call" || each.result !== null || answered.has(each.call.call_id)) return [item];
    return [new CopiedItem({ ...item, copied: { ...each, result: "none" } })];
  });
}
