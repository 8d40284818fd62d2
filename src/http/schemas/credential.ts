import { z } from "@hono/zod-openapi";
import type { RotationReport } from "../../app/models/rotate-credentials";
import type { CredentialView } from "../../app/tenant-api";
import { time } from "../../contract/ids";
import { documents } from "./documents";

export const credentialName = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, "1 to 64 letters, digits and . _ -, a letter or digit first")
  .openapi({ example: "openai" });

/** The key is sent in a header, so it is visible ASCII. The error message never quotes it. */
export const credentialInput = z
  .strictObject({
    api_key: z
      .string()
      .regex(/^[\x21-\x7e]{1,4096}$/, "1 to 4096 visible ASCII characters")
      .openapi({ writeOnly: true, description: "Kept sealed and never shown again" }),
  })
  .openapi("PutCredential");

export const credentialView = documents<CredentialView>()(
  z
    .object({
      name: z.string(),
      key_id: z.string().openapi({ description: "Which of the deployment's master keys seals it" }),
      created_at: time,
      updated_at: time,
      models: z.array(z.string()).readonly().openapi({ description: "The tenant's models that are called with it" }),
    })
    .openapi("Credential"),
);

export const rotationReport = documents<RotationReport>()(
  z
    .object({
      key_id: z.string().openapi({ description: "The current master key" }),
      total: z.int(),
      current: z.int().openapi({ description: "Were under the current key before" }),
      resealed: z.int(),
      changed: z.int().openapi({ description: "Put anew meanwhile: run it again" }),
      unreadable: z.array(z.string()).readonly().openapi({ description: "Names of those that no known key opens" }),
    })
    .openapi("CredentialRotation"),
);
