/** Says why a turn failed and what can be done, by the class of the failure. The provider's own words stand beside it, as an excerpt. */
import type { TurnFailureView } from "../../contract/model-call";
import type { ByteFit, FitReport, TurnFailure, TurnFailureKind } from "../../domain/events";

const details: Readonly<Record<TurnFailureKind, string>> = {
  overflow: "The provider refused the request as larger than the model's context window.",
  cannot_fit: "The content that no compaction can remove does not fit into the model's context window.",
  media: "The provider refused an image or a file of the conversation.",
  refused: "The provider refused to answer.",
  unknown_model: "The session's model is no longer known.",
  payload: "The provider refused the request as too large.",
  output_cap: "The reply exceeded the maximum length, or the provider refused the requested length.",
  invalid_param: "The provider refused a parameter of the request.",
  auth: "The provider refused the model's API key.",
  not_found: "The provider has no model of this name, or nothing at this address.",
  region: "The provider does not serve the place where this deployment runs.",
  rate_limit: "A rate limit was reached: the provider's, or the tenant's own of model calls a minute.",
  quota: "The provider's quota is used up.",
  unavailable: "The provider could not be reached, or failed.",
  aborted: "The connection to the provider was closed before the reply was complete.",
  timeout: "The provider did not answer in time.",
  storage_full: "The session's storage is full, so the turn's output could not be recorded.",
  budget: "A budget is used up, so the model was not asked.",
  no_progress: "The model made the same call of a tool three times, and it failed in the same way each time.",
  round_limit: "The model called tools in more rounds than the policy allows in one turn.",
  suspended: "The tenant was suspended before the answer was complete.",
  crashed: "The turn was interrupted by repeated crashes and made no progress between them.",
  internal: "The turn failed because of an internal error.",
};

/** For a failure without a provider's answer: nothing was sent. */
const NO_KEY =
  "There is no key for the model: its credential was deleted or cannot be decrypted, or the deployment has no key for its provider.";

const RETRY = "Retry the turn.";
const LESS = "Use a model with a larger window, or shorten the system prompt, tools, pins or this message.";

/** What helps, in the words of the person who can do it. A retry stands where the same request may succeed. */
const remedies: Readonly<Record<TurnFailureKind, string>> = {
  rate_limit: RETRY,
  unavailable: RETRY,
  timeout: RETRY,
  aborted: RETRY,
  crashed: RETRY,
  internal: RETRY,
  overflow: LESS,
  cannot_fit: LESS,
  payload: "Shorten the system prompt, tools, pins or this message, or raise the limit of the proxy in front of the model.",
  output_cap: "Lower max_output_tokens, or the model's max_output (PUT /v1/models/{model_id}), and retry the turn.",
  media: "Send the next message without it: images and files of earlier messages are then only named.",
  refused: "Send another message, or rewind the session to before this one (POST /v1/sessions/{session_id}/branches).",
  invalid_param:
    "Change the setting that the provider names (reported.param), or the model's quirks (PUT /v1/models/{model_id}), and retry the turn. If it names none, compact the session (POST /v1/sessions/{session_id}/compactions) or set another model.",
  auth: "Give the model a key that its provider accepts (PUT /v1/credentials/{name}, then set it as the model's credential) and retry the turn.",
  quota: "Add credit at the provider, or give the model a key of another account (PUT /v1/credentials/{name}), and retry the turn.",
  not_found:
    "Correct the model's upstream_id or base_url (PUT /v1/models/{model_id}; POST /v1/models/{model_id}/probe asks the provider for the model), or set another model for the session, and retry the turn.",
  region:
    "Set a model for the session whose provider serves the place of this deployment, or call it through a gateway, and retry the turn.",
  storage_full: "The session can be read, forked and erased.",
  budget: "Retry the turn when the budget's next period begins, or when its amount is raised (GET /v1/budgets).",
  no_progress: "Send a message that helps the model, or change the tool. Where the reply's limit cut the calls off, raise it.",
  round_limit: "Send a message to let the model go on, or raise tools.max_rounds in the session's policy.",
  suspended: "Retry the turn when the tenant is served again.",
  unknown_model: "Set a model for the session and retry the turn.",
};

/** For a request with too many bytes: a larger window does not help. */
const SMALLER = "Shorten the system prompt, tools, pins or this message.";

export const tooLarge = ({ floor, limit }: ByteFit): string =>
  `The content that no compaction can remove takes about ${floor} bytes; a request to a model holds at most ${limit}.`;

const notSent = ({ floor, limit }: ByteFit): string =>
  `The request would be ${floor} bytes; at most ${limit} are sent to a model. It was not sent.`;

/** What helps where our own figures say why the request cannot fit. */
const toLess = ({ floor, limit }: FitReport): string =>
  `Raise the model's window or use a larger model, or shorten the system prompt, tools, pins or this message: about ${toFigure(floor)} tokens of ${toFigure(limit)}.`;

const toFigure = (tokens: number): string => tokens.toLocaleString("en-US");

function toRemedy({ kind, fit, bytes }: TurnFailure): string {
  if (bytes || fit?.bytes) return SMALLER;
  return fit && fit.floor > fit.limit ? toLess(fit) : remedies[kind];
}

function toDetail({ kind, status, fit, bytes }: TurnFailure): string {
  if (bytes) return notSent(bytes);
  if (fit?.bytes) return tooLarge(fit.bytes);
  return kind === "auth" && status === null ? NO_KEY : details[kind];
}

/**
 * The failure as clients read it. The message is kept in every case, so no remedy is to send it again. `excerpt`: what the provider said;
 * absent: nothing that may be shown.
 */
export function describeFailure(failure: TurnFailure, excerpt?: string): TurnFailureView {
  const reported = excerpt === undefined ? {} : { reported: { ...failure.reported, message: excerpt } };
  return { ...failure, ...reported, detail: toDetail(failure), remedy: toRemedy(failure) };
}

/** The failure in one text, for a client whose wire format has no place for more. */
export const sayFailure = ({ detail, reported }: TurnFailureView): string =>
  reported?.message === undefined ? detail : `${detail} The provider said: ${reported.message}`;
