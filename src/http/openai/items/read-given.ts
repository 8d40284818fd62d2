/** Items as the client sent them, as messages: their compactions and references are opened first. */
import type { FieldError } from "../../../contract/problem";
import { err, ok, type Result } from "../../../lib/result";
import { readPrincipal } from "../../auth";
import type { Asker, HttpDeps } from "../../deps";
import type { HttpError } from "../../problem";
import { openCompactions } from "./compaction-item";
import { readReference } from "./compaction-reference";
import type { CompactionName } from "./item-names";
import { readInputItems } from "./read-items";
import { openReferences, type ReferencePlace } from "./references";
import type { ReadInput } from "./transcript";

interface Given {
  /** What the request calls the items. */
  readonly field: string;
  readonly items: unknown;
  /** What the request continues. */
  readonly place: ReferencePlace | null;
}

interface ReadGiven {
  readonly input: ReadInput;
  /** The items with their compactions and references opened, each in its place. */
  readonly opened: unknown;
}

/** The items as they are to be read. `items`: what the client sent, which may be anything. */
export async function openGiven(c: Asker, deps: HttpDeps, { field, items, place }: Given): Promise<Result<unknown, HttpError>> {
  const by = {
    sealer: deps.compactionSealer,
    tenant: readPrincipal(c).tenant,
    session: place?.session ?? null,
    readReference: (name: CompactionName) => readReference(c, deps, { ...name, place }),
  };
  const opened = await openCompactions(items, { field, by });
  return opened.ok ? openReferences(c, deps, { field, items: opened.value, place }) : opened;
}

export async function readGiven(c: Asker, deps: HttpDeps, { field, items, place }: Given): Promise<Result<ReadGiven, HttpError>> {
  const opened = await openGiven(c, deps, { field, items, place });
  if (!opened.ok) return opened;
  const read = readInputItems(opened.value, field);
  return read.ok ? ok({ input: read.value, opened: opened.value }) : invalid(read.error);
}

const invalid = (error: FieldError) => err({ code: "invalid_request" as const, errors: [error] });
