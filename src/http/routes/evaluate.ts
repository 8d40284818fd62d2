/** Evaluates what another policy would have done in an existing session. */

import type { OpenAPIHono } from "@hono/zod-openapi";
import { z } from "@hono/zod-openapi";
import type { ModelSpec } from "../../app/ports";
import { modelFigures, toFigures } from "../../context/model-input";
import { policyChoiceSchema, toPolicyText } from "../../context/policy-choice";
import { evaluation } from "../../contract/evaluation";
import { id } from "../../contract/ids";
import type { SessionDescription } from "../../contract/session";
import type { TenantId } from "../../domain/ids";
import { type EvaluationAsked, evaluateSession, proposedChoice } from "../../evaluate/evaluate-session";
import { err, ok, type Result } from "../../lib/result";
import { giveWay } from "../../lib/timer";
import { readPrincipal } from "../auth";
import { callWithRetry } from "../calls";
import type { HttpDeps, HttpEnv } from "../deps";
import { SESSION } from "../examples/shared";
import { evaluationExample } from "../examples/view";
import { type HttpError, sendProblem } from "../problem";
import { json, jsonBody, tenantRoute } from "../routing";
import { modelName } from "../schemas/model";
import { faultOfPolicy } from "../schemas/session";
import { sessionClient } from "../session-calls";

/** Maximum number of messages that one evaluation plays (docs/policies.md says how long that takes). */
const MAX_MESSAGES = 10_000;

const evaluationInput = z
  .strictObject({
    session: id("ses"),
    policy: policyChoiceSchema.describe("The policy to evaluate. It is merged over the session's policy, as when the session is updated"),
    model: modelName
      .optional()
      .openapi({ description: "The model whose limits and prices apply to all calls. Default: the session's model" }),
    window: modelFigures.context_window.describe("The context window. Null if unknown. Default: the model's window"),
    prices: modelFigures.prices,
    last: z
      .int()
      .min(1)
      .max(MAX_MESSAGES)
      .default(MAX_MESSAGES)
      .openapi({ description: "Evaluate only this many of the newest messages. Older ones are left out" }),
  })
  .openapi("EvaluatePolicy");

const evaluate = tenantRoute({
  method: "post",
  path: "/v1/policies/evaluate",
  tag: "policies",
  scope: "sessions:read",
  operationId: "evaluatePolicy",
  summary: "Evaluate another policy",
  description:
    "Plays a session's log under another policy: what it would have cost, and what would have left the view. No model is called, and nothing is changed.",
  refuses: ["session_not_found", "session_erased", "unknown_model", "model_gone"],
  request: { body: jsonBody(evaluationInput, { session: SESSION, policy: "economy" }) },
  responses: { 200: json("Both policies, and what the session really used", evaluation, evaluationExample) },
});

const NOTHING_SAID: HttpError = { code: "invalid_request", errors: [{ field: "session", detail: "has no messages yet" }] };

type Input = z.infer<typeof evaluationInput>;

export function registerEvaluate(app: OpenAPIHono<HttpEnv>, deps: HttpDeps): void {
  app.openapi(evaluate, async (c) => {
    const input = c.req.valid("json");
    const calls = sessionClient(deps, c, input.session);
    const described = await calls.repeatable((api, caller) => api.describe(caller));
    if (!described.ok) return sendProblem(c, described.error);
    const asked = await ask(deps, readPrincipal(c).tenant, { input, description: described.value });
    if (!asked.ok) return sendProblem(c, asked.error);
    const evaluated = await evaluateSession(asked.value, {
      ask: async (work) => {
        await giveWay();
        return calls.repeatable(work);
      },
    });
    if (!evaluated.ok) return sendProblem(c, evaluated.error);
    return evaluated.value ? c.json(evaluated.value, 200) : sendProblem(c, NOTHING_SAID);
  });
}

interface Of {
  readonly input: Input;
  readonly description: SessionDescription;
}

async function ask(deps: HttpDeps, tenant: TenantId, { input, description }: Of): Promise<Result<EvaluationAsked, HttpError>> {
  const { policy, window, prices, last } = input;
  const fault = faultOfPolicy(toPolicyText(proposedChoice(description, policy)), policy);
  if (fault) return err({ code: "invalid_request", errors: [fault] });
  const id = input.model ?? description.model;
  const model = await resolve(deps, tenant, id);
  if (!model) return err({ code: input.model === undefined ? "model_gone" : "unknown_model", model: id });
  return ok({ description, policy, model, last, ...(window !== undefined && { window }), ...toPrices(prices) });
}

/** Prices per token. */
const toPrices = (prices: Input["prices"]) => toFigures({ prices });

const resolve = (deps: HttpDeps, tenant: TenantId, model: string): Promise<ModelSpec | null> =>
  callWithRetry(
    () => deps.tenants(tenant),
    (api) => api.resolveModel(model),
  );
