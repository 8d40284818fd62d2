/** Describes a failed turn to a client that waited for it: by the class of the failure, never in the provider's own words. */
import type { ByteFit, TurnFailure, TurnFailureKind } from "../domain/events";

type FailureStatus = 413 | 422 | 500 | 502 | 503 | 504 | 507;

const statuses: Readonly<Record<TurnFailureKind, FailureStatus>> = {
  overflow: 422,
  cannot_fit: 422,
  media: 422,
  refused: 422,
  unknown_model: 422,
  payload: 413,
  output_cap: 502,
  invalid_param: 502,
  auth: 502,
  rate_limit: 503,
  quota: 503,
  unavailable: 503,
  aborted: 503,
  timeout: 504,
  round_limit: 422,
  storage_full: 507,
  crashed: 500,
  internal: 500,
};

const details: Readonly<Record<TurnFailureKind, string>> = {
  overflow: "The provider refused the request as larger than the model's context window.",
  cannot_fit: "What no compaction can remove does not fit into the model's context window.",
  media: "The provider refused an image or a file of the conversation.",
  refused: "The provider refused to answer.",
  unknown_model: "The session's model is no longer known.",
  payload: "The provider refused the request as too large.",
  output_cap: "The reply was longer than one may be, or the provider refused the length asked of it.",
  invalid_param: "The provider refused a parameter of the request.",
  auth: "The provider refused the key that the model is called with.",
  rate_limit: "The provider's rate limit was reached.",
  quota: "The provider's quota is used up.",
  unavailable: "The provider could not be reached, or failed.",
  aborted: "The connection to the provider was closed before the reply was complete.",
  timeout: "The provider did not answer in time.",
  storage_full: "The session's storage is full, and what the turn produced could not be recorded.",
  round_limit: "The model called tools in more rounds than the policy allows a turn.",
  crashed: "The turn was lost in crashes, and the attempts are used up.",
  internal: "The turn failed on this side.",
};

/** For a failure without a provider's answer: nothing was sent. */
const NO_KEY =
  "There is no key to call the model with: the credential that it names is gone or cannot be opened, or the deployment has none for its provider.";

/** What must change before a retry, where the same request would fail again. */
const remedies: Partial<Readonly<Record<TurnFailureKind, string>>> = {
  cannot_fit: "it fits only on a model with a larger window, or with less in the system prompt, tools, pins and this message",
  auth: "once the model has a key that its provider takes (PUT /v1/credentials/{name}, named by the model), the turn can be retried",
  storage_full: "the session can be read, forked and erased",
  unknown_model: "once the session has a model again, the turn can be retried",
};

/** For a request with too many bytes: a larger window does not help. */
const SMALLER = "it fits only with less in the system prompt, tools, pins and this message";

export const tooLarge = ({ floor, limit }: ByteFit): string =>
  `What no compaction can remove takes about ${floor} bytes; a request to a model holds at most ${limit}.`;

const notSent = ({ floor, limit }: ByteFit): string =>
  `The request would be ${floor} bytes; at most ${limit} are sent to a model. It was not sent.`;

interface FailureAnswer {
  readonly status: FailureStatus;
  readonly detail: string;
  /** What the client can do, as the end of a sentence about the message. */
  readonly remedy: string;
  /** Seconds; null when waiting alone does not help. */
  readonly retryAfter: number | null;
}

/** The provider's wait where it named one, else 5 seconds. */
const toSeconds = ({ retry_after_ms }: TurnFailure): number => (retry_after_ms === undefined ? 5 : Math.ceil(retry_after_ms / 1_000));

function toDetail({ kind, status, fit, bytes }: TurnFailure): string {
  if (bytes) return notSent(bytes);
  if (fit?.bytes) return tooLarge(fit.bytes);
  return kind === "auth" && status === null ? NO_KEY : details[kind];
}

export function describeFailure(failure: TurnFailure): FailureAnswer {
  const status = statuses[failure.kind];
  const isLarge = failure.bytes !== undefined || failure.fit?.bytes !== undefined;
  const remedy = isLarge ? SMALLER : (remedies[failure.kind] ?? "the turn can be retried");
  return { status, detail: toDetail(failure), remedy, retryAfter: status === 503 ? toSeconds(failure) : null };
}
