/** The HTTP door. It parses, asks the objects, and words their answers; it decides nothing about a conversation. */
import { OpenAPIHono } from "@hono/zod-openapi";
import { authenticate, requireAdmin } from "./auth";
import type { HttpDeps, HttpEnv } from "./deps";
import { answerUnknown } from "./known-paths";
import { answerThrown, observe } from "./observe";
import { registerAdmin } from "./routes/admin";
import { registerCompactions } from "./routes/compactions";
import { registerControl } from "./routes/control";
import { registerCredentials } from "./routes/credentials";
import { registerExport } from "./routes/export";
import { registerKeys } from "./routes/keys";
import { registerMessages } from "./routes/messages";
import { registerModels } from "./routes/models";
import { registerPolicies } from "./routes/policies";
import { registerRebuild } from "./routes/rebuild";
import { registerRecall } from "./routes/recall";
import { registerService } from "./routes/service";
import { registerSessions } from "./routes/sessions";
import { registerStreams } from "./routes/stream";
import { registerTenant } from "./routes/tenant";
import { registerTurns } from "./routes/turns";
import { registerUsage } from "./routes/usage";
import { refuseInvalid } from "./validation";

/** Build it once per isolate: it holds nothing of a request. */
export function createApp(deps: HttpDeps): OpenAPIHono<HttpEnv> {
  const app = new OpenAPIHono<HttpEnv>({ defaultHook: refuseInvalid });
  app.use(observe(deps));
  app.use("/v1/*", authenticate(deps));
  app.use("/v1/admin/*", requireAdmin(deps));
  registerService(app);
  registerSessions(app, deps);
  registerMessages(app, deps);
  registerTurns(app, deps);
  registerStreams(app, deps);
  registerCompactions(app, deps);
  registerRecall(app, deps);
  registerControl(app, deps);
  registerPolicies(app, deps);
  registerUsage(app, deps);
  registerKeys(app, deps);
  registerModels(app, deps);
  registerCredentials(app, deps);
  registerTenant(app, deps);
  registerAdmin(app, deps);
  registerExport(app, deps);
  registerRebuild(app, deps);
  app.onError(answerThrown(deps));
  app.notFound(answerUnknown(app.routes));
  return app;
}
