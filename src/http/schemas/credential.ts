import { z } from "@hono/zod-openapi";

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
      .openapi({ writeOnly: true, description: "Stored sealed and never shown again" }),
  })
  .openapi("PutCredential");
