/**
 * The item of type `compaction`: what stands for the conversation before it, sealed for its client, who sends it back as input in the same
 * conversation or in a new one. The seal holds a summary and what it leaves verbatim, or names a stored response whose session has them.
 */
import { z } from "@hono/zod-openapi";
import type { CompactionSealer } from "../../../app/ports";
import { conversationSummary } from "../../../context/placement";
import type { FieldError } from "../../../contract/problem";
import { type IdPrefix, type NewId, parseId, type SessionId, type TenantId, type TurnId } from "../../../domain/ids";
import { err, ok, type Result } from "../../../lib/result";
import type { HttpError } from "../../problem";
import type { SessionCalls } from "../../session-calls";
import { type CompactionName, toCompactionName } from "./item-names";
import type { CompactionItem } from "./item-types";
import { parseAt } from "./read-content";

const isId = (prefix: IdPrefix, given: unknown): boolean => typeof given === "string" && parseId(prefix, given) !== null;
const sessionId = z.custom<SessionId>((given) => isId("ses", given));
const turnId = z.custom<TurnId>((given) => isId("trn", given));

/** `items`: what follows the summary, as items of an input. `session`: the throwaway session of the response that had it compacted. */
const compacted = z.object({ summary: z.string().nullable(), items: z.array(z.looseObject({})), session: sessionId.optional() });
export type Compacted = z.infer<typeof compacted>;

/** A response of a stored session. What the model could read when it began stands for what is before it. */
const reference = z.object({ session: sessionId, turn: turnId });

const sealedContent = z.union([compacted, reference]);
type SealedContent = z.infer<typeof sealedContent>;

interface SealFor {
  readonly sealer: CompactionSealer;
  readonly tenant: TenantId;
}

/** A compaction that its client asked for by itself. */
export async function toCompactionItem(
  { summary, items }: Compacted,
  { newId, ...by }: SealFor & { readonly newId: NewId },
): Promise<CompactionItem> {
  return { type: "compaction", id: newId("cmp"), encrypted_content: await sealCompacted({ summary, items }, by) };
}

export const sealCompacted = (content: Compacted, { sealer, tenant }: SealFor): Promise<string> =>
  sealer.seal(tenant, JSON.stringify(content));

/** The compaction before a response of a stored session, which is the same item wherever it is shown. */
export async function toReferenceItem({ session, sealAlike }: SessionCalls, turn: TurnId): Promise<CompactionItem> {
  const name = { session, turn };
  return toFirstItem(name, await sealAlike(JSON.stringify(name satisfies z.input<typeof reference>)));
}

/** The compaction before a response. */
export const toFirstItem = (name: CompactionName, sealed: string): CompactionItem => ({
  type: "compaction",
  id: toCompactionName(name),
  encrypted_content: sealed,
});

/** The place in a session behind which a response began to speak. */
export interface StartPlace extends CompactionName {
  /** Of the response's question. */
  readonly position: number;
}

/** Items that take the place of one item of the input. No JSON of a client is an instance of it. */
export class OpenedItems {
  readonly items: readonly unknown[];
  /** All that a session's conversation has up to there. Null: the items are of no place. */
  readonly place: StartPlace | null;

  constructor(items: readonly unknown[], place: StartPlace | null = null) {
    this.items = items;
    this.place = place;
  }
}

const typed = z.object({ type: z.literal("compaction") });
const sealed = z.object({ encrypted_content: z.string() });
const named = z.object({ id: z.string() });

interface OpenBy extends SealFor {
  /** The session that the request goes on in. Null: a new one. */
  readonly session: SessionId | null;
  /** Null: the response is gone, or the caller must not read it. */
  readReference(name: CompactionName): Promise<Result<OpenedItems | null, HttpError>>;
}

interface Opening {
  /** What the request calls the items. */
  readonly field: string;
  readonly by: OpenBy;
}

type Read<T> = Promise<Result<T, HttpError>>;

/**
 * Opens the compactions of an input, as the client sent it. Each keeps its place, so that refusals name the client's own fields. Nothing before
 * the newest compaction of a response is read: it stands for all of that.
 */
export async function openCompactions(input: unknown, { field, by }: Opening): Read<unknown> {
  if (!Array.isArray(input) || !input.some(isCompaction)) return ok(input);
  const items: unknown[] = [...input];
  for (let index = input.length - 1; index >= 0; index--) {
    if (!isCompaction(input[index])) continue;
    const content = await openSeal(input[index], `${field}.${index}`, by);
    if (!content.ok) return err(refuse(content.error));
    const opened = await openContent(content.value, by);
    if (!opened.ok) return opened;
    if (!opened.value) return err(refuse({ field: `${field}.${index}.encrypted_content`, detail: GONE }));
    items[index] = opened.value;
    if ("session" in content.value) return ok(items.fill(NOTHING, 0, index));
    items.splice(0, index, ...withoutTwice(items.slice(0, index), content.value));
  }
  return ok(items);
}

const isCompaction = (item: unknown): boolean => typed.safeParse(item).success;

const NOTHING = new OpenedItems([]);
const GONE = "The conversation of this compaction does not exist any more.";

const refuse = (error: FieldError): HttpError => ({ code: "invalid_request", errors: [error] });

async function openSeal(given: unknown, field: string, { sealer, tenant }: SealFor): Promise<Result<SealedContent, FieldError>> {
  const content = parseAt(sealed, { given, field }, ({ encrypted_content: text }) => ok(text));
  if (!content.ok) return content;
  const text = await sealer.open(tenant, content.value);
  const opened = text === null ? null : sealedContent.safeParse(JSON.parse(text));
  if (opened?.success) return ok(opened.data);
  return err({ field: `${field}.encrypted_content`, detail: "The encrypted content could not be verified." });
}

async function openContent(content: SealedContent, by: OpenBy): Read<OpenedItems | null> {
  if ("turn" in content) return by.readReference(content);
  // A session that lasts as long as its connection has all of it.
  return ok(content.session !== undefined && content.session === by.session ? NOTHING : new OpenedItems(toInput(content)));
}

/** A compacted input repeats the newest messages of the user, which the compaction holds in their order. */
function withoutTwice(before: readonly unknown[], { items }: Compacted): unknown[] {
  const held = new Set(items.flatMap((item) => readName(item) ?? []));
  return before.map((item) => (held.has(readName(item) ?? "") ? NOTHING : item));
}

function readName(item: unknown): string | null {
  const read = named.safeParse(item);
  return read.success ? read.data.id : null;
}

/** The model reads the summary as a message about what came before, so that a later compaction takes it in. */
export const toInput = ({ summary, items }: { readonly summary: string | null; readonly items: readonly unknown[] }): readonly unknown[] =>
  summary === null ? items : [{ type: "message", role: "user", content: conversationSummary(summary) }, ...items];
