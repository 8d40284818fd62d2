/**
 * The item of type `compaction`: a summary, and what it leaves verbatim, sealed for its client. The client sends it back as input, in the
 * same conversation or in a new one.
 */
import { z } from "@hono/zod-openapi";
import type { CompactionSealer } from "../../../app/ports";
import { conversationSummary } from "../../../context/placement";
import type { FieldError } from "../../../contract/problem";
import type { NewId, TenantId } from "../../../domain/ids";
import { err, ok, type Result } from "../../../lib/result";
import { parseAt } from "./read-content";

/** What the seal holds. `items`: what follows the summary, as items of an input. */
const compacted = z.object({ summary: z.string().nullable(), items: z.array(z.looseObject({})) });
export type Compacted = z.infer<typeof compacted>;

interface CompactionItem {
  readonly type: "compaction";
  readonly id: string;
  readonly encrypted_content: string;
}

interface SealFor {
  readonly sealer: CompactionSealer;
  readonly tenant: TenantId;
}

export async function toCompactionItem(
  { summary, items }: Compacted,
  { sealer, tenant, newId }: SealFor & { readonly newId: NewId },
): Promise<CompactionItem> {
  return { type: "compaction", id: newId("cmp"), encrypted_content: await sealer.seal(tenant, JSON.stringify({ summary, items })) };
}

/** Items that take the place of one item of the input. No JSON of a client is an instance of it. */
export class OpenedItems {
  readonly items: readonly unknown[];

  constructor(items: readonly unknown[]) {
    this.items = items;
  }
}

const typed = z.object({ type: z.literal("compaction") });
const sealed = z.object({ encrypted_content: z.string() });
const named = z.object({ id: z.string() });

/**
 * Opens the compactions of an input, as the client sent it. Each keeps its place, so that refusals name the client's own fields. `field`:
 * what the request calls the items.
 */
export async function openCompactions(input: unknown, field: string, by: SealFor): Promise<Result<unknown, FieldError>> {
  if (!Array.isArray(input) || !input.some((item) => typed.safeParse(item).success)) return ok(input);
  let items: unknown[] = [...input];
  for (const [index, given] of input.entries()) {
    if (!typed.safeParse(given).success) continue;
    const read = await openItem(given, `${field}.${index}`, by);
    if (!read.ok) return read;
    items = [...withoutTwice(items.slice(0, index), read.value), new OpenedItems(toInput(read.value)), ...items.slice(index + 1)];
  }
  return ok(items);
}

async function openItem(given: unknown, field: string, { sealer, tenant }: SealFor): Promise<Result<Compacted, FieldError>> {
  const content = parseAt(sealed, { given, field }, ({ encrypted_content: text }) => ok(text));
  if (!content.ok) return content;
  const text = await sealer.open(tenant, content.value);
  const opened = text === null ? null : compacted.safeParse(JSON.parse(text));
  if (opened?.success) return ok(opened.data);
  return err({ field: `${field}.encrypted_content`, detail: "The encrypted content could not be verified." });
}

/** A compacted input repeats the newest messages of the user, which the compaction holds in their order. */
function withoutTwice(before: readonly unknown[], { items }: Compacted): unknown[] {
  const held = new Set(items.flatMap((item) => readName(item) ?? []));
  return before.map((item) => (held.has(readName(item) ?? "") ? new OpenedItems([]) : item));
}

function readName(item: unknown): string | null {
  const read = named.safeParse(item);
  return read.success ? read.data.id : null;
}

/** The model reads the summary as a message about what came before, so that a later compaction takes it in. */
function toInput({ summary, items }: Compacted): readonly unknown[] {
  return summary === null ? items : [{ type: "message", role: "user", content: conversationSummary(summary) }, ...items];
}
