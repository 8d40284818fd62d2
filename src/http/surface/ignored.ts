/**
 * What a request holds and this service does not use: it changes nothing, and the answer names it. Agents and SDKs send members that are newer
 * than this build, so that refusing them would shut out clients for nothing.
 */
import type { Context } from "hono";
import type { HttpEnv } from "../deps";

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
