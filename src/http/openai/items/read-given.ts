/** Items as the client sent them, as messages: their compactions are opened first. */
import type { FieldError } from "../../../contract/problem";
import { err, ok, type Result } from "../../../lib/result";
import { readPrincipal } from "../../auth";
import type { Asker, HttpDeps } from "../../deps";
import type { HttpError } from "../../problem";
import { openCompactions } from "./compaction-item";
import { readInputItems } from "./read-items";
import type { ReadInput } from "./transcript";

interface Given {
  /** What the request calls the items. */
  readonly field: string;
  readonly items: unknown;
}

interface ReadGiven {
  readonly input: ReadInput;
  /** The items with their compactions opened, each in its place. */
  readonly opened: unknown;
}

export async function readGiven(c: Asker, deps: HttpDeps, { field, items }: Given): Promise<Result<ReadGiven, HttpError>> {
  const opened = await openCompactions(items, field, { sealer: deps.compactionSealer, tenant: readPrincipal(c).tenant });
  if (!opened.ok) return invalid(opened.error);
  const read = readInputItems(opened.value, field);
  return read.ok ? ok({ input: read.value, opened: opened.value }) : invalid(read.error);
}

const invalid = (error: FieldError) => err({ code: "invalid_request" as const, errors: [error] });
