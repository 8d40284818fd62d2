/**
 * What a request holds and this service does not use: it changes nothing, and the answer names it. Agents and SDKs send members that are newer
 * than this build, so that refusing them would shut out clients for nothing.
 */
import type { Context } from "hono";
import type { z } from "zod";
import { err, ok, type Result } from "../../lib/result";
import type { HttpEnv } from "../deps";
import type { RequestError } from "../problem";
import { parseKnown } from "../validation";

const IGNORED_HEADER = "X-Ignored";
/** The most names in an answer, and the most characters of one. */
const MOST_NAMES = 20;
const MOST_CHARACTERS = 80;

/** A name as a header may hold it. */
const toName = (name: string): string => name.slice(0, MOST_CHARACTERS).replaceAll(/[^\x21-\x2b\x2d-\x7e]/g, "?");

/** `names`: paths of members of the body, or names of headers. */
export function noteIgnored(c: Context<HttpEnv>, names: readonly string[]): void {
  for (const name of names.slice(0, MOST_NAMES)) c.header(IGNORED_HEADER, toName(name), { append: true });
}

/** The body of a request as the schema has it. Members that the schema does not have are left out, and named. */
export async function readKnown<S extends z.ZodType>(c: Context<HttpEnv>, schema: S): Promise<Result<z.infer<S>, RequestError>> {
  const parsed = parseKnown(schema, await c.req.json());
  if (!parsed.ok) return err({ code: "invalid_request", errors: parsed.error });
  noteIgnored(c, parsed.value.unknown);
  return ok(parsed.value.value);
}
