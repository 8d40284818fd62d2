/** The request of a report about the next request. */
import { z } from "@hono/zod-openapi";

export const contextInput = z
  .strictObject({ content: z.string().refine((text) => text.trim() !== "", "must not be empty") })
  .openapi("NextMessage");
