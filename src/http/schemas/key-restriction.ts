import { z } from "@hono/zod-openapi";
import type { KeyRestriction } from "../../contract/key-restriction";
import { endUser } from "../../contract/label";
import { scopesWithin } from "../../domain/key-restriction";
import type { Scope } from "../../domain/scopes";
import { modelName } from "./model";
import { metadataInput } from "./session";

/** As many as a key can check at each request without a look-up. */
const MAX_NAMES = 50;

export const restrictionInput = z
  .strictObject({
    models: z.array(modelName).min(1).max(MAX_NAMES).nullable().default(null),
    end_users: z.array(endUser).min(1).max(MAX_NAMES).nullable().default(null),
    metadata: metadataInput
      .refine((entries) => Object.keys(entries).length > 0, "at least one entry")
      .nullable()
      .default(null),
  })
  .refine(({ models, end_users, metadata }) => models !== null || end_users !== null || metadata !== null, {
    message: "names models, end_users or metadata",
  })
  .openapi("CreateKeyRestriction", {
    description: "What the key is held to beside its scopes. It cannot be changed later: a rotation keeps it",
  });

interface Wanted {
  /** Absent: those of `most` that the restriction allows. */
  readonly scopes: readonly Scope[] | undefined;
  readonly restriction: KeyRestriction | null;
  readonly most: readonly Scope[];
}

/** The scopes of a new key, and the one that its restriction does not allow. */
export function chooseScopes({ scopes, restriction, most }: Wanted): {
  readonly scopes: readonly Scope[];
  readonly refused: string | null;
} {
  const allowed: readonly Scope[] = restriction === null ? most : scopesWithin(restriction);
  if (scopes === undefined) return { scopes: most.filter((scope) => allowed.includes(scope)), refused: null };
  const excess = restriction === null ? undefined : scopes.find((scope) => !allowed.includes(scope));
  const refused = excess === undefined ? null : `a key with this restriction cannot have the scope ${excess}`;
  return { scopes: [...new Set(scopes)], refused };
}
