/** Ids in paths and answers, typed, with their pattern in the OpenAPI document. */
import { z } from "@hono/zod-openapi";
import { type IdKinds, type IdPrefix, idPattern } from "../../domain/ids";

const EXAMPLE_ULID = "01JD8Z3V6Q4N7R2T5W9X0Y1ABC";

function describe(prefix: IdPrefix) {
  return { pattern: idPattern(prefix).source, example: `${prefix}_${EXAMPLE_ULID}` };
}

export function id<P extends IdPrefix>(prefix: P) {
  return z
    .custom<IdKinds[P]>((value) => typeof value === "string" && idPattern(prefix).test(value), `must have the form ${prefix}_…`)
    .openapi({ type: "string", ...describe(prefix) });
}

export function idOrNull<P extends IdPrefix>(prefix: P) {
  return z
    .custom<IdKinds[P] | null>((value) => value === null || (typeof value === "string" && idPattern(prefix).test(value)))
    .openapi({ type: ["string", "null"], ...describe(prefix) });
}

/** Epoch milliseconds. */
export const time = z.int().openapi({ description: "Epoch milliseconds", example: 1_795_000_000_000 });

export const sessionPath = z.object({ session_id: id("ses") });
