/** The routes of responses that are about input alone. */
import type { OpenAPIHono } from "@hono/zod-openapi";
import { requireScope } from "../../auth";
import { readLongBody } from "../../body";
import type { HttpDeps, HttpEnv } from "../../deps";
import { compact } from "./compact";
import { listInputItems } from "./input-items";
import { countInputTokens } from "./input-tokens";

export function registerResponseInputs(app: OpenAPIHono<HttpEnv>, deps: HttpDeps): void {
  const reads = requireScope("sessions:read", null);
  app.post("/v1/responses/input_tokens", reads, readLongBody, (c) => countInputTokens(c, deps));
  app.post("/v1/responses/compact", requireScope("sessions:write", null), readLongBody, (c) => compact(c, deps));
  app.get("/v1/responses/:response_id/input_items", reads, (c) => listInputItems(c, deps));
}
