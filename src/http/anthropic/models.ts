/**
 * `/v1/models` as Anthropic's API answers it, for requests with the header `anthropic-version`. Without it the native answer stands, which
 * has the same members but for `capabilities` and the names of pages.
 */
import { type OpenAPIHono, z } from "@hono/zod-openapi";
import type { Context, Next } from "hono";
import type { ModelEntry } from "../../app/model-entry";
import { readPrincipal, requireScope } from "../auth";
import { callWithRetry } from "../calls";
import type { HttpDeps, HttpEnv } from "../deps";
import { sendProblem } from "../problem";
import { toFieldErrors } from "../validation";

const MAX_LIMIT = 1_000;
const modelsQuery = z.object({
  limit: z.coerce.number().int().min(1).max(MAX_LIMIT).default(20),
  after_id: z.string().min(1).optional(),
  before_id: z.string().min(1).optional(),
});

/** The API's own word for an unknown date. */
const UNKNOWN_DATE = new Date(0).toISOString();

/** `capabilities` would tell much that we do not know of a model. */
const toModel = ({ id, context_window, max_output }: ModelEntry) => ({
  type: "model",
  id,
  display_name: id,
  created_at: UNKNOWN_DATE,
  max_input_tokens: context_window,
  max_tokens: max_output,
  capabilities: null,
  lifecycle: "active",
  line: null,
  deprecated_at: null,
  retires_at: null,
  // Only the beta of the API has it.
  allowed_fallback_models: null,
});

/** The page behind `after_id`, or the one that ends before `before_id`. */
function takePage(models: readonly ModelEntry[], { limit, after_id, before_id }: z.infer<typeof modelsQuery>) {
  const sorted = models.toSorted((one, other) => (one.id < other.id ? -1 : 1));
  const chosen = sorted.filter(({ id }) => (after_id === undefined || id > after_id) && (before_id === undefined || id < before_id));
  const data = (before_id === undefined ? chosen.slice(0, limit) : chosen.slice(-limit)).map(toModel);
  return { data, has_more: chosen.length > data.length, first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null };
}

const isAsked = (c: Context<HttpEnv>): boolean => c.req.header("anthropic-version") !== undefined;

/** Register it before the native routes, which answer what it passes on. */
export function registerAnthropicModels(app: OpenAPIHono<HttpEnv>, deps: HttpDeps): void {
  const anyKey = requireScope(null, null);
  const tenant = (c: Context<HttpEnv>) => deps.tenants(readPrincipal(c).tenant);
  app.get("/v1/models", anyKey, async (c: Context<HttpEnv>, next: Next) => {
    if (!isAsked(c)) return await next();
    const query = modelsQuery.safeParse(c.req.query());
    if (!query.success) return sendProblem(c, { code: "invalid_request", errors: toFieldErrors(query.error.issues) });
    const models = await callWithRetry(
      () => tenant(c),
      (api) => api.listModels(),
    );
    return models.ok ? c.json(takePage(models.value, query.data)) : sendProblem(c, models.error);
  });
  app.get("/v1/models/:model_id", anyKey, async (c: Context<HttpEnv>, next: Next) => {
    if (!isAsked(c)) return await next();
    const model = await callWithRetry(
      () => tenant(c),
      (api) => api.getModel(c.req.param("model_id") ?? ""),
    );
    return model.ok ? c.json(toModel(model.value)) : sendProblem(c, model.error);
  });
}
