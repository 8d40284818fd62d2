/** What a key asks of an access token. */
import { z } from "@hono/zod-openapi";
import type { TokenHolder } from "../../app/principal";
import type { TenantOutcome } from "../../app/tenant-api";
import { id } from "../../contract/ids";
import { endUser } from "../../contract/label";
import type { KeyView } from "../../contract/tenant";
import { ACCESS_TOKEN_SCOPES } from "../../domain/scopes";
import { err, ok } from "../../lib/result";

/** A token cannot be revoked, so it lives for a working day at most. In seconds. */
export const MAX_TOKEN_SECONDS = 86_400;
const DEFAULT_TOKEN_SECONDS = 3_600;
const MIN_TOKEN_SECONDS = 60;

export const accessTokenInput = z
  .strictObject({
    session_id: id("ses").optional().openapi({ description: "The one session that the token opens" }),
    end_user: endUser.optional().openapi({ description: "The token opens the sessions of this end user" }),
    scopes: z
      .array(z.enum(ACCESS_TOKEN_SCOPES))
      .min(1)
      .optional()
      .openapi({ description: "Default: those of the calling key that a token can have" }),
    expires_in: z
      .int()
      .min(MIN_TOKEN_SECONDS)
      .max(MAX_TOKEN_SECONDS)
      .optional()
      .openapi({ description: `Seconds. Default: ${DEFAULT_TOKEN_SECONDS}, or until the calling key expires if that is sooner` }),
  })
  .superRefine(({ session_id, end_user }, context) => {
    const refuse = (field: string, message: string) => context.addIssue({ code: "custom", path: [field], message });
    if (session_id === undefined && end_user === undefined) refuse("session_id", "a token needs session_id or end_user");
    if (session_id !== undefined && end_user !== undefined) refuse("end_user", "only without session_id");
  })
  .openapi("CreateAccessToken");

type Asked = Pick<z.infer<typeof accessTokenInput>, "scopes" | "expires_in">;

/** The rights and the end of a new token, which must not exceed those of the key that makes it. */
export function boundByKey(
  { scopes, expires_in }: Asked,
  { key, now }: { readonly key: KeyView; readonly now: number },
): TenantOutcome<Pick<TokenHolder, "scopes" | "expires_at">> {
  const granted = scopes ? [...new Set(scopes)] : ACCESS_TOKEN_SCOPES.filter((scope) => key.scopes.includes(scope));
  const lacking = (scopes ?? ACCESS_TOKEN_SCOPES).find((scope) => !key.scopes.includes(scope));
  if (granted.length === 0 || (scopes && lacking)) {
    return err({ code: "beyond_own_key", field: "scopes", detail: `the calling key does not have the scope ${lacking}` });
  }
  const wanted = now + (expires_in ?? DEFAULT_TOKEN_SECONDS) * 1_000;
  const last = key.expires_at ?? Number.POSITIVE_INFINITY;
  if (expires_in !== undefined && wanted > last) {
    return err({ code: "beyond_own_key", field: "expires_in", detail: `the calling key expires at ${last}: its tokens expire no later` });
  }
  return ok({ scopes: granted, expires_at: Math.floor(Math.min(wanted, last) / 1_000) * 1_000 });
}
