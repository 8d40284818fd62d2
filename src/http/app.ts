/** The HTTP app. It parses requests, calls the objects and formats their answers. It decides nothing about a conversation. */
import { OpenAPIHono } from "@hono/zod-openapi";
import type { Context } from "hono";
import { requireAdmin } from "./admin-access";
import { registerChat } from "./ai-sdk/chat-routes";
import { nameRequest, registerAnthropic } from "./anthropic/messages";
import { registerAnthropicModels } from "./anthropic/models";
import { authenticate } from "./auth";
import { answerBrowsers } from "./browsers";
import type { HttpDeps, HttpEnv } from "./deps";
import { serveSignedExport } from "./export-content";
import { serveSigned } from "./file-content";
import { registerMcp } from "./mcp/endpoint";
import { answerThrown, observe } from "./observe";
import { registerChatCompletions } from "./openai/chat/completions";
import { registerConversations } from "./openai/conversations";
import { registerResponseInputs } from "./openai/responses/inputs";
import { registerResponses } from "./openai/responses/responses";
import { registerResponsesSocket } from "./openai/responses/socket";
import { registerStoredResponses } from "./openai/responses/stored-responses";
import { sendProblem } from "./problem";
import { limitRate } from "./rate-limits";
import { limitRequests } from "./request-limits";
import { registerAccessTokens } from "./routes/access-tokens";
import { registerAdmin } from "./routes/admin";
import { registerAdminKeys } from "./routes/admin-keys";
import { registerArchive } from "./routes/archive";
import { registerAudit } from "./routes/audit";
import { registerBranches } from "./routes/branches";
import { registerBudgets } from "./routes/budgets";
import { registerChannelUsers } from "./routes/channel-users";
import { registerChannels } from "./routes/channels";
import { registerCompactions } from "./routes/compactions";
import { registerContext } from "./routes/context";
import { registerControl } from "./routes/control";
import { registerCredentials } from "./routes/credentials";
import { registerDatabases } from "./routes/databases";
import { registerDocs } from "./routes/docs";
import { registerDrafts } from "./routes/drafts";
import { registerEndUsers } from "./routes/end-users";
import { registerErasures } from "./routes/erasures";
import { registerEvaluate } from "./routes/evaluate";
import { registerExecutions } from "./routes/executions";
import { registerExport } from "./routes/export";
import { registerExports } from "./routes/exports";
import { registerFiles } from "./routes/files";
import { registerImports } from "./routes/imports";
import { registerKeys } from "./routes/keys";
import { registerLimits } from "./routes/limits";
import { registerMcpServers } from "./routes/mcp-servers";
import { registerMessages } from "./routes/messages";
import { registerModels } from "./routes/models";
import { registerPins } from "./routes/pins";
import { registerPolicies } from "./routes/policies";
import { registerRebuild } from "./routes/rebuild";
import { registerRecall } from "./routes/recall";
import { registerRespond } from "./routes/respond";
import { registerRetention } from "./routes/retention";
import { registerSchedules } from "./routes/schedules";
import { registerService } from "./routes/service";
import { registerSessions } from "./routes/sessions";
import { registerStreams } from "./routes/stream";
import { registerSuspension } from "./routes/suspension";
import { registerTenant } from "./routes/tenant";
import { registerTenantPlans } from "./routes/tenant-plans";
import { registerTenants } from "./routes/tenants";
import { registerTools } from "./routes/tools";
import { registerTurns } from "./routes/turns";
import { registerUsage } from "./routes/usage";
import { registerWebhookDeliveries } from "./routes/webhook-deliveries";
import { registerWebhooks } from "./routes/webhooks";
import { limitStreams } from "./stream-limits";
import { refuseInvalid } from "./validation";
import { registerChannelWebhooks } from "./webhooks";

/** Build it once per isolate: it holds no data of a request. */
export function createApp(deps: HttpDeps): OpenAPIHono<HttpEnv> {
  const app = new OpenAPIHono<HttpEnv>({ defaultHook: refuseInvalid });
  app.use(observe(deps));
  app.use("/v1/messages/*", nameRequest);
  app.use("/v1/*", answerBrowsers());
  app.use("/api/*", answerBrowsers());
  app.use("/mcp/*", answerBrowsers());
  app.use(limitRequests());
  app.use("/v1/files/:file_id/content", serveSigned(deps));
  app.use("/v1/exports/:export_id/content", serveSignedExport(deps));
  app.use("/v1/*", authenticate(deps));
  app.use("/api/*", authenticate(deps));
  app.use("/mcp/*", authenticate(deps));
  app.use("/v1/*", limitRate(deps));
  app.use("/api/*", limitRate(deps));
  app.use("/mcp/*", limitRate(deps));
  app.use("/v1/*", limitStreams(deps));
  app.use("/api/*", limitStreams(deps));
  app.use("/mcp/*", limitStreams(deps));
  app.use("/v1/admin/*", requireAdmin(deps));
  registerService(app);
  registerDocs(app, deps);
  registerSessions(app, deps);
  registerMessages(app, deps);
  registerRespond(app, deps);
  registerTurns(app, deps);
  registerBranches(app, deps);
  registerStreams(app, deps);
  registerCompactions(app, deps);
  registerContext(app, deps);
  registerRecall(app, deps);
  registerArchive(app, deps);
  registerControl(app, deps);
  registerPins(app, deps);
  registerSchedules(app, deps);
  registerDrafts(app, deps);
  registerExecutions(app, deps);
  registerPolicies(app, deps);
  registerEvaluate(app, deps);
  registerUsage(app, deps);
  registerKeys(app, deps);
  registerAccessTokens(app, deps);
  registerAnthropicModels(app, deps);
  registerModels(app, deps);
  registerCredentials(app, deps);
  registerTools(app, deps);
  registerMcpServers(app, deps);
  registerChannels(app, deps);
  registerChannelUsers(app, deps);
  registerFiles(app, deps);
  registerErasures(app, deps);
  registerEndUsers(app, deps);
  registerRetention(app, deps);
  registerExports(app, deps);
  registerImports(app, deps);
  registerWebhooks(app, deps);
  registerWebhookDeliveries(app, deps);
  registerTenant(app, deps);
  registerLimits(app, deps);
  registerBudgets(app, deps);
  registerAudit(app, deps);
  registerAdmin(app, deps);
  registerTenants(app, deps);
  registerTenantPlans(app, deps);
  registerSuspension(app, deps);
  registerAdminKeys(app, deps);
  registerExport(app, deps);
  registerRebuild(app, deps);
  registerDatabases(app, deps);
  registerChatCompletions(app, deps);
  registerAnthropic(app, deps);
  registerConversations(app, deps);
  registerResponses(app, deps);
  registerResponsesSocket(app, deps);
  registerStoredResponses(app, deps);
  registerResponseInputs(app, deps);
  registerChat(app, deps);
  registerMcp(app, deps);
  registerChannelWebhooks(app, deps);
  app.onError(answerThrown(deps));
  app.notFound(answerUnknown(app.routes));
  return app;
}

interface Route {
  readonly method: string;
  /** `/v1/sessions/:session_id` */
  readonly path: string;
}

function toPattern(path: string): RegExp {
  const segments = path.split("/").map((segment) => (segment.startsWith(":") ? "[^/]+" : segment.replaceAll(".", "\\.")));
  return new RegExp(`^${segments.join("/")}$`);
}

/** A model's id may contain slashes, which a path would take for its own. */
const MODEL_PATH = /^\/v1\/models\/[^/]+\/./;
const SLASH_HINT = "In a model id, encode / as %2F.";
const END_HINT = "There is one without the slash at the end.";

/** The app's `notFound`: answers 405 with `Allow` for a known path, else 404. People write `/docs/`, too, so that address leads to the page. */
function answerUnknown(routes: readonly Route[]): (c: Context<HttpEnv>) => Response {
  const listKnown = () => routes.filter(({ method }) => method !== "ALL").map(({ method, path }) => ({ method, pattern: toPattern(path) }));
  // Built for the first unknown path: most isolates meet none, and building them is half of an app's creation.
  let patterns: ReturnType<typeof listKnown> | null = null;
  return (c) => {
    patterns ??= listKnown();
    const known = patterns;
    const methods = known.filter(({ pattern }) => pattern.test(c.req.path)).map(({ method }) => method);
    if (c.req.path === "/docs/" && (c.req.method === "GET" || c.req.method === "HEAD")) return c.redirect("/docs", 308);
    if (methods.length === 0) {
      const isKnownWithout = known.some(({ pattern }) => c.req.path.endsWith("/") && pattern.test(c.req.path.slice(0, -1)));
      const hint = isKnownWithout ? END_HINT : MODEL_PATH.test(c.req.path) ? SLASH_HINT : undefined;
      return sendProblem(c, { code: "not_found", ...(hint !== undefined && { hint }) });
    }
    return sendProblem(c, { code: "method_not_allowed", allow: [...new Set(methods)].sort() });
  };
}
