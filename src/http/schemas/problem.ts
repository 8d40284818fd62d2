import { z } from "@hono/zod-openapi";

export const problemSchema = z
  .looseObject({
    type: z.string().openapi({ example: "urn:longhand:problem:invalid_request" }),
    title: z.string(),
    status: z.int(),
    detail: z.string(),
    request_id: z.string().openapi({ description: "The one in the logs, and in x-request-id" }),
    errors: z.array(z.object({ field: z.string(), detail: z.string() })).optional(),
  })
  .openapi("Problem");
