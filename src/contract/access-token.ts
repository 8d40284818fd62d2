/** Access tokens, which a browser holds in place of a key. */
import { z } from "@hono/zod-openapi";
import { ACCESS_TOKEN_SCOPES } from "../domain/scopes";
import { id, idOrNull, time } from "./ids";

export const accessTokenView = z
  .object({
    id: id("tok").openapi({ description: "Names the token in the service's logs" }),
    token: z.string().openapi({ description: "The access token. It is not stored, so it is shown only here" }),
    session_id: idOrNull("ses"),
    end_user: z.string().nullable(),
    scopes: z.array(z.enum(ACCESS_TOKEN_SCOPES)).readonly(),
    expires_at: time,
  })
  .openapi("AccessToken");
export type AccessTokenView = z.infer<typeof accessTokenView>;
