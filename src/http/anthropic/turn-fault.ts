/** Why a turn has no answer, in the types of the Anthropic API. */

import type { ContentfulStatusCode } from "hono/utils/http-status";
import { sayFailure } from "../../app/turn/describe-failure";
import type { TurnFailureView } from "../../contract/model-call";
import type { TurnFailureKind } from "../../domain/events";

export interface TurnFault {
  readonly status: ContentfulStatusCode;
  readonly type: string;
  readonly message: string;
}

/** Anthropic's own status of a service without capacity, which hono's list does not have. */
export const OVERLOADED = 529 as ContentfulStatusCode;

const invalid = [400, "invalid_request_error"] as const;
const broken = [500, "api_error"] as const;
const overloaded = [OVERLOADED, "overloaded_error"] as const;
const limited = [429, "rate_limit_error"] as const;

/** The key that a provider refuses is the deployment's or the tenant's, so its client is not told that its own is wrong. */
const FAULTS: Readonly<Record<TurnFailureKind, readonly [ContentfulStatusCode, string]>> = {
  overflow: invalid,
  cannot_fit: invalid,
  payload: [413, "request_too_large"],
  output_cap: invalid,
  invalid_param: invalid,
  media: invalid,
  refused: invalid,
  unknown_model: [404, "not_found_error"],
  rate_limit: limited,
  quota: limited,
  unavailable: overloaded,
  timeout: [504, "timeout_error"],
  aborted: broken,
  auth: broken,
  not_found: broken,
  region: broken,
  storage_full: broken,
  round_limit: broken,
  no_progress: broken,
  budget: [402, "billing_error"],
  suspended: broken,
  crashed: broken,
  internal: broken,
};

/** Agents look for these words to tell that a conversation is too long. */
const TOO_LONG = "prompt is too long";

/** Null: the turn ended with its process. */
export function toTurnFault(failure: TurnFailureView | null): TurnFault {
  if (!failure) return { status: 500, type: "api_error", message: "The turn was interrupted. Its text so far is kept." };
  const { kind, fit, limit } = failure;
  const said = sayFailure(failure);
  const [status, type] = FAULTS[kind];
  if (kind !== "overflow" && kind !== "cannot_fit") return { status, type, message: said };
  const most = fit?.limit ?? limit;
  const figures = fit && most !== undefined ? `: ${Math.ceil(fit.floor)} tokens > ${most} maximum` : "";
  return { status, type, message: `${TOO_LONG}${figures}. ${said}` };
}

interface WireError {
  readonly type: string;
  readonly message: string;
  /** `error_code`: what the SDK compares. */
  readonly details?: { readonly error_code: string };
}

export const toErrorBody = (error: WireError, request_id: string) => ({ type: "error", error, request_id });
