/** What an API key is held to, beside its scopes. */
import { z } from "@hono/zod-openapi";

/** A null field holds the key to nothing. At least one is not null. */
export const keyRestriction = z
  .object({
    models: z.array(z.string()).readonly().nullable().openapi({ description: "The models that the key may use. Null: all" }),
    end_users: z
      .array(z.string())
      .readonly()
      .nullable()
      .openapi({ description: "The end users whose sessions the key reaches. Null: all" }),
    metadata: z
      .record(z.string(), z.string())
      .nullable()
      .openapi({ description: "The entries that the metadata of a session must have for the key to reach it. Null: none" }),
  })
  .openapi("KeyRestriction");
export type KeyRestriction = Readonly<z.infer<typeof keyRestriction>>;
