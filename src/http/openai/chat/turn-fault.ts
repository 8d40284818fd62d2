/** Why a turn has no answer, in the words of the OpenAI API. The turn was accepted: to send its message again would add it twice. */

import type { ContentfulStatusCode } from "hono/utils/http-status";
import { sayFailure } from "../../../app/turn/describe-failure";
import type { TurnFailureView } from "../../../contract/model-call";
import type { TurnFailureKind } from "../../../domain/events";

export interface OpenAiFault {
  readonly status: ContentfulStatusCode;
  readonly error: { readonly message: string; readonly type: string; readonly param: string | null; readonly code: string | null };
}

type Row = readonly [status: ContentfulStatusCode, type: string, code: string | null];
const invalid = (code: string | null): Row => [400, "invalid_request_error", code];
const broken = (code: string | null): Row => [500, "server_error", code];

/** The key that a provider refuses is the deployment's or the tenant's, so that its client is not told that its own is wrong. */
const FAULTS: Readonly<Record<TurnFailureKind, Row>> = {
  overflow: invalid("context_length_exceeded"),
  cannot_fit: invalid("context_length_exceeded"),
  payload: invalid("context_length_exceeded"),
  output_cap: invalid("max_tokens_exceeded"),
  invalid_param: invalid("invalid_value"),
  media: invalid("invalid_image"),
  refused: invalid("content_filter"),
  unknown_model: [404, "invalid_request_error", "model_not_found"],
  rate_limit: [429, "rate_limit_error", "rate_limit_exceeded"],
  quota: [429, "insufficient_quota", "insufficient_quota"],
  unavailable: [503, "server_error", "provider_unavailable"],
  timeout: [504, "server_error", "provider_timeout"],
  aborted: broken(null),
  auth: broken("provider_unauthorized"),
  not_found: broken("provider_not_found"),
  region: broken("provider_region"),
  storage_full: broken("storage_full"),
  round_limit: broken("round_limit"),
  no_progress: broken("no_progress"),
  budget: [402, "insufficient_quota", "insufficient_quota"],
  suspended: broken("tenant_suspended"),
  crashed: broken(null),
  internal: broken(null),
};

const isTooLong = (kind: TurnFailureKind): boolean => kind === "overflow" || kind === "cannot_fit" || kind === "payload";

/** Null: the turn ended with its process. */
export function toOpenAiFault(failure: TurnFailureView | null): OpenAiFault {
  const error = { message: "The turn was interrupted. Its text so far is kept.", type: "server_error", param: null, code: null };
  if (!failure) return { status: 500, error };
  const [status, type, code] = FAULTS[failure.kind];
  return { status, error: { message: sayFailure(failure), type, param: isTooLong(failure.kind) ? "messages" : null, code } };
}
