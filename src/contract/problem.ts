/** The body of a refusal (RFC 9457). */
import { z } from "@hono/zod-openapi";

const fieldError = z.object({
  field: z.string().openapi({
    description:
      "The field's path as the client wrote it (`results.0.output`), the name of a header, or of a parameter of the path or query, or `body`",
  }),
  detail: z.string(),
});
export type FieldError = z.infer<typeof fieldError>;

export const problem = z
  .looseObject({
    type: z.string().openapi({ example: "urn:longhand:problem:invalid_request" }),
    title: z.string(),
    status: z.int(),
    detail: z.string(),
    request_id: z.string().openapi({ description: "The id of the request in the logs, and in the header x-request-id" }),
    errors: z.array(fieldError).optional(),
  })
  .openapi("Problem");
