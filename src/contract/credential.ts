/** A tenant's credentials for providers and tools, and their rotation. */
import { z } from "@hono/zod-openapi";
import { time } from "./ids";

export const credentialView = z
  .object({
    name: z.string(),
    key_id: z.string().openapi({ description: "The id of the deployment's master key that seals the credential" }),
    created_at: time,
    updated_at: time.openapi({ description: "When the credential was last put. Resealing it does not count" }),
    models: z.array(z.string()).readonly().openapi({ description: "Ids of the tenant's models that use the credential" }),
  })
  .openapi("Credential", { description: "A credential without its secret, which is never shown" });
export type CredentialView = z.infer<typeof credentialView>;

export const rotationReport = z
  .object({
    key_id: z.string().openapi({
      description: "The current master key. It now seals every credential except those counted by `changed` or listed in `unreadable`",
    }),
    total: z.int(),
    current: z.int().openapi({ description: "Credentials that were under the current key before" }),
    resealed: z.int(),
    changed: z.int().openapi({ description: "Credentials that were put again during the rotation. If there are any, run it again" }),
    unreadable: z
      .array(z.string())
      .readonly()
      .openapi({ description: "Names of credentials that no known master key opens. The tenant must put them again" }),
  })
  .openapi("CredentialRotation");
export type RotationReport = z.infer<typeof rotationReport>;
