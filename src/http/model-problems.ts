/** Refusals about models: part of the table in `problem`. */
import type { ProbeFailure } from "../app/models/probe-limits";
import type { SessionError } from "../app/session-api";
import type { TenantError } from "../app/tenant-api";
import { conflict, invalid, type RouteAnswer, retryLater, unknown } from "./answer";
import { probeFaults } from "./problem-texts";

export type ModelError =
  /** The session's own model is not known any more. The request named no model. */
  | { readonly code: "model_gone"; readonly model: string }
  /** The default model of the tenant's settings is not known any more. The request named no model. */
  | { readonly code: "default_model_gone"; readonly model: string }
  | ({ readonly code: "probe_failed" } & ProbeFailure);

type Answered =
  | ModelError
  | Extract<TenantError, { readonly code: "model_not_found" | "model_not_own" | "model_is_default" }>
  | Extract<SessionError, { readonly code: "unknown_model" | "models_unavailable" | "request_unknown" }>;

export const modelAnswers: { readonly [E in Answered as E["code"]]: (error: E) => RouteAnswer } = {
  model_not_found: () => unknown("model"),
  model_not_own: () =>
    conflict(
      "Not a model of the tenant",
      "The model belongs to the deployment. Only the tenant's own models and overrides can be deleted.",
    ),
  model_is_default: ({ model }) =>
    conflict("The default model", "Sessions without a model of their own use it. First PATCH /v1/tenant with another default_model.", {
      model,
    }),
  default_model_gone: ({ model }) => ({
    status: 422,
    title: "Default model not found",
    detail: `The tenant's default_model ${model} is no longer known. Specify a model, or PATCH /v1/tenant with another default_model.`,
    extra: { model },
  }),
  model_gone: ({ model }) => ({
    status: 422,
    title: "Model gone",
    detail: `The session's model ${model} is no longer known, or the calling key may not use it. PATCH the session with another model, or add the model again.`,
    extra: { model },
  }),
  unknown_model: () => invalid([{ field: "model", detail: "no such model" }]),
  models_unavailable: () => retryLater("The model registry is unavailable; nothing was changed."),
  request_unknown: ({ model }) => ({
    status: 422,
    title: "Request unavailable",
    detail: `This deployment no longer has the request format in which ${model} was asked.`,
    extra: { model },
  }),
  probe_failed: ({ reason, status: provider_status }) => {
    const [status, detail] = probeFaults[reason];
    return { status, title: "Limits unavailable", detail, extra: { reason, provider_status } };
  },
};
