/**
 * Finds what the references of an input stand for. The items are read from their sessions' logs, and each keeps its place in the input, so
 * that refusals name the client's own fields.
 */
import { z } from "@hono/zod-openapi";
import type { NamedMessage } from "../../../app/named-api";
import type { FieldError } from "../../../contract/problem";
import type { ItemId, SessionId, TurnId } from "../../../domain/ids";
import { err, ok, type Result } from "../../../lib/result";
import type { Asker, HttpDeps } from "../../deps";
import type { HttpError } from "../../problem";
import { sessionClient } from "../../session-calls";
import { CopiedItem, copyItem } from "./copied-item";
import { type ItemName, parseItemName, toItemName } from "./item-names";
import { MAX_ITEMS } from "./read-items";

type Read<T> = Promise<Result<T, HttpError>>;

/** What the request continues. The model reads the items of that place already. */
export interface ReferencePlace {
  readonly session: SessionId;
  /** Null: the newest place of the conversation. */
  readonly after: TurnId | null;
}

interface Referring {
  /** What the request calls the items. */
  readonly field: string;
  readonly items: unknown;
  readonly place: ReferencePlace | null;
}

/** Each conversation is one object that is asked. */
const MAX_SESSIONS = 50;
const MAX_NAMES = 200;
/** A name that is refused is repeated up to this length. */
const MAX_SHOWN = 128;

const reference = z.looseObject({ type: z.literal("item_reference").nullish(), id: z.string() });

/** The name that the item is, and nothing else: the type may be left out. */
function readReference(item: unknown): string | null {
  const read = reference.safeParse(item);
  if (!read.success) return null;
  const { type, id } = read.data;
  return type === "item_reference" || !("role" in read.data || "content" in read.data) ? id : null;
}

/** A call of the server that a client sends back without its result, which OpenAI's agents do not keep. */
const withoutResult = z.looseObject({
  type: z.literal("mcp_call"),
  id: z.string().nullish(),
  approval_request_id: z.string().nullish(),
  output: z.null().optional(),
  error: z.null().optional(),
});

/** The call by its own name or by its request's. Null: this service has given it none. */
function readWithoutResult(item: unknown): string | null {
  const read = withoutResult.safeParse(item);
  const names = read.success ? [read.data.id, read.data.approval_request_id] : [];
  return names.find((name) => name && parseItemName(name)?.session) ?? null;
}

/** `isOwn`: the item says all by itself, where nothing is found by its name. */
interface Given {
  readonly index: number;
  readonly name: string;
  readonly isOwn: boolean;
}

function readGiven(item: unknown, index: number): Given[] {
  const name = readReference(item);
  if (name !== null) return [{ index, name, isOwn: false }];
  const call = readWithoutResult(item);
  return call === null ? [] : [{ index, name: call, isOwn: true }];
}

interface Named {
  readonly index: number;
  readonly isOwn: boolean;
  readonly given: string;
  readonly name: ItemName & { readonly session: SessionId };
}

export async function openReferences(c: Asker, deps: HttpDeps, { field, items, place }: Referring): Read<unknown> {
  if (!Array.isArray(items) || items.length > MAX_ITEMS) return ok(items);
  const given = items.flatMap(readGiven);
  if (given.length === 0) return ok(items);
  const named = nameAll(given, place);
  if (!named.ok) return err(refuse({ field, detail: named.error }));
  const found = await readAll(c, deps, { names: named.value, place });
  if (!found.ok) return found;
  if (found.value === "too many") return err(refuse({ field, detail: `refers to at most ${MAX_SESSIONS} conversations` }));
  const opened = copyAll(named.value, found.value);
  if (!opened.ok) return err(refuse({ field, detail: opened.error }));
  return ok(items.map((item, index) => opened.value.get(index) ?? item));
}

const refuse = (error: FieldError): HttpError => ({ code: "invalid_request", errors: [error] });

/** One sentence for every reason, so that no answer tells what there is elsewhere. */
const toUnknown = (name: string): string => `Item with id '${name.slice(0, MAX_SHOWN)}' not found.`;

function nameAll(given: readonly Given[], place: ReferencePlace | null): Result<readonly Named[], string> {
  const named: Named[] = [];
  for (const { index, name, isOwn } of given) {
    const parsed = parseItemName(name);
    const session = parsed?.session ?? place?.session;
    if (!parsed || !session) return err(toUnknown(name));
    named.push({ index, isOwn, given: name, name: { ...parsed, session } });
  }
  return ok(named);
}

type Messages = ReadonlyMap<ItemId, NamedMessage>;

interface Asked {
  readonly names: readonly Named[];
  readonly place: ReferencePlace | null;
}

/** The messages of all names, by the ids that the names hold. Item ids are unique, whichever session they are of. */
async function readAll(c: Asker, deps: HttpDeps, { names, place }: Asked): Read<ReadonlyMap<SessionId, Messages> | "too many"> {
  const sessions = Map.groupBy(names, ({ name }) => name.session);
  if (sessions.size > MAX_SESSIONS) return ok("too many");
  const found = new Map<SessionId, Messages>();
  for (const [session, each] of sessions) {
    const ids = [...new Set(each.map(({ name }) => name.id))];
    const read = await readSession(c, deps, { session, ids, place });
    if (!read.ok) return read;
    found.set(session, read.value);
  }
  return ok(found);
}

interface InSession {
  readonly session: SessionId;
  readonly ids: readonly ItemId[];
  readonly place: ReferencePlace | null;
}

/** A session that is not there, that was erased, and that the caller must not read has no messages. */
export async function readSession(c: Asker, deps: HttpDeps, { session, ids, place }: InSession): Read<Messages> {
  const calls = sessionClient(deps, c, session);
  const found = new Map<ItemId, NamedMessage>();
  for (let left = ids; left.length > 0; ) {
    const [now, later] = [left.slice(0, MAX_NAMES), left.slice(MAX_NAMES)];
    const asked = { ids: now, ...(place?.session === session && { place: { after: place.after } }) };
    const read = await calls.repeatable((api, caller) => api.named(caller, asked));
    if (!read.ok) return read.error.code === "session_not_found" || read.error.code === "session_erased" ? ok(new Map()) : read;
    for (const each of read.value.data) for (const { id } of [each.message, ...(each.message.tool_calls ?? [])]) found.set(id, each);
    left = [...read.value.rest, ...later];
  }
  return ok(found);
}

/** By the place in the input. A name that is given twice counts once, and so does a call that two names are of. */
function copyAll(names: readonly Named[], found: ReadonlyMap<SessionId, Messages>): Result<ReadonlyMap<number, CopiedItem>, string> {
  const opened = new Map<number, CopiedItem>();
  const seen = new Set<string>();
  for (const { index, isOwn, given, name } of names) {
    const named = found.get(name.session)?.get(name.id);
    const copied = named ? copyItem(named, name) : null;
    if ((!named || !copied) && isOwn) continue;
    if (!named || !copied) return err(toUnknown(given));
    const { message, branch, is_there } = named;
    const { whole, approved } = findCall(copied, { named, name, isOwn });
    const isNew = copied !== "none" && !is_there && !seen.has(whole);
    opened.set(index, new CopiedItem({ session: name.session, message: message.id, branch, copied: isNew ? copied : null, approved }));
    seen.add(whole);
  }
  return ok(opened);
}

type Found = NonNullable<ReturnType<typeof copyItem>>;

interface Referred {
  readonly named: NamedMessage;
  readonly name: Named["name"];
  readonly isOwn: boolean;
}

/** `whole`: one name for all names of a call. `approved`: the request of a call that has run. */
function findCall(copied: Found, { named, name, isOwn }: Referred): { readonly whole: string; readonly approved: string | null } {
  if (copied === "none" || copied.kind !== "call") return { whole: toItemName(name), approved: null };
  const call = { session: name.session, id: copied.item };
  const isApproved = named.message.role === "tool" || (isOwn && name.prefix === "mcpr");
  return { whole: toItemName({ prefix: "mcp", ...call }), approved: isApproved ? toItemName({ prefix: "mcpr", ...call }) : null };
}
