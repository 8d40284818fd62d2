/** Typed ids and times, with their pattern in the OpenAPI document. */
import { z } from "@hono/zod-openapi";
import { type IdPrefix, idPattern, parseId } from "../domain/ids";

const EXAMPLE_ULID = "01JD8Z3V6Q4N7R2T5W9X0Y1ABC";

const NAMES: Readonly<Record<IdPrefix, string>> = {
  ten: "a tenant",
  ses: "a session",
  trn: "a turn",
  msg: "a message",
  exe: "a tool call",
  cmp: "a compaction",
  ovl: "a summary or a gap of the view",
  key: "an API key",
  adm: "an admin key",
  tok: "an access token",
  fil: "a file",
  era: "an erasure",
  exp: "an export",
  imp: "an import",
  whk: "a webhook endpoint",
  evt: "a webhook's event",
  dlv: "a delivery to a webhook endpoint",
  bod: "a text",
};

/**
 * The document gets a string schema, so that `nullable()` has an effect on it. A type that is given beside a custom schema
 * overwrites what the generator makes of the whole, and the null is lost. The inferred type is the branded id.
 */
export function id<P extends IdPrefix>(prefix: P) {
  return z
    .string(`must have the form ${prefix}_…`)
    .regex(idPattern(prefix), `must have the form ${prefix}_…`)
    .openapi({ example: `${prefix}_${EXAMPLE_ULID}`, description: `The id of ${NAMES[prefix]}` })
    .transform((text) => parseId(prefix, text) ?? z.NEVER);
}

export const idOrNull = <P extends IdPrefix>(prefix: P) => id(prefix).nullable();

export const time = z.int().openapi({ description: "Epoch milliseconds", example: 1_795_000_000_000 });

/** The year 9999: what a date can show. */
export const MAX_TIME = 253_402_300_799_999;
