/** How the clients of a key are served that speak other vendors' APIs. */
import { z } from "@hono/zod-openapi";

const setting = <T extends string>(value: T, description: string) => z.literal(value).nullable().openapi({ description });

/** A null field leaves the default. */
export const clientSettings = z
  .object({
    session_header: setting(
      "create",
      "`create`: a conversation has the session that the client names, by its `external_id`: in `X-Session-Id`, or as Claude Code and Codex do",
    ),
    on_disconnect: setting("stop", "`stop`: a client that leaves an answer stops its turn, as `X-On-Disconnect: stop` does"),
    chat_instructions: setting("take", "`take`: `system` and `tools` in the body of `/api/chat` are those of the turn"),
  })
  .openapi("ClientSettings");
export type ClientSettings = Readonly<z.infer<typeof clientSettings>>;
