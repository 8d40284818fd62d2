/** Path parameters of several routes. */
import { z } from "@hono/zod-openapi";
import { id } from "../../contract/ids";

export const sessionPath = z.object({ session_id: id("ses") });
