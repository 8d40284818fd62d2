/** `GET /v1/responses` with an upgrade: the WebSocket over which a client asks for one response after the other. */
import type { OpenAPIHono } from "@hono/zod-openapi";
import { readBearer, readPrincipal, requireScope } from "../../auth";
import type { HttpDeps, HttpEnv } from "../../deps";
import { sendProblem } from "../../problem";

export function registerResponsesSocket(app: OpenAPIHono<HttpEnv>, deps: HttpDeps): void {
  app.get("/v1/responses", requireScope("sessions:write", null), async (c) => {
    const isUpgrade = c.req.header("upgrade")?.toLowerCase() === "websocket";
    const key = readBearer(c);
    if (!isUpgrade || key === null) return sendProblem(c, { code: "method_not_allowed", allow: ["POST"] });
    const { tenant, key: id } = readPrincipal(c);
    return await deps.openSocket(c.req.raw, { tenant, key: id, hash: await deps.hashKey(key) });
  });
}
