/** Files of a tenant, which messages refer to by id. */
import { z } from "@hono/zod-openapi";
import { id, time } from "./ids";

export const fileView = z
  .object({
    id: id("fil"),
    name: z.string().nullable(),
    media_type: z.string().openapi({ description: "Found by the file's first bytes", example: "image/png" }),
    bytes: z.int(),
    sha256: z.string().openapi({ description: "Of the content, hexadecimal" }),
    created_at: time,
    sessions: z.int().openapi({ description: "The number of sessions whose messages refer to the file" }),
    expires_at: time
      .nullable()
      .openapi({ description: "When the file ends if no message refers to it by then. Null while a session refers to it" }),
  })
  .openapi("File", { description: "A stored image or document. Its content never changes" });
export type FileView = z.infer<typeof fileView>;

export const fileErasure = z
  .object({
    id: id("fil"),
    status: z
      .enum(["erased", "pending"])
      .openapi({ description: "pending: the content is out of reach and is erased later, without another request" }),
  })
  .openapi("FileErasure", { description: "The file cannot be read any more. A message that refers to it keeps its place and names it" });
export type FileErasure = z.infer<typeof fileErasure>;

export const fileUrl = z
  .object({
    url: z.string().openapi({ format: "uri", description: "Reads the content without a key. It works for every holder" }),
    expires_at: time,
  })
  .openapi("FileUrl");
