/**
 * What a provider's refusal teaches about its endpoint. The same call is asked once more by it, and the next ones begin with it: in this
 * session at once, and in the tenant's others when the registry has it (`models/suggest-limits`).
 */
import { findLesson, LEAST_REQUEST_BYTES, type Quirks, type RefusedPart } from "../../context/model-quirks";
import type { ModelFailure, ModelSpec } from "../ports";

/** A failure of a call, and the length of the body that was sent, in UTF-16 units. */
export interface SentFailure extends Pick<ModelFailure, "kind" | "status" | "refused" | "most_bytes"> {
  readonly sent: number;
}

/** Null: the refusal teaches nothing. */
export function toLesson(spec: ModelSpec, { kind, status, refused, most_bytes, sent }: SentFailure): Quirks | null {
  if (kind === "payload" && status !== null && status < 500) return { max_request_bytes: toByteBound(most_bytes, sent) };
  return refused === undefined ? null : findLesson(spec, refused);
}

/** What the provider named, or half of what it refused. */
function toByteBound(named: number | undefined, sent: number): number {
  const half = Math.max(LEAST_REQUEST_BYTES, Math.floor(sent / 2));
  return named !== undefined && named >= LEAST_REQUEST_BYTES && named < sent ? named : half;
}

/**
 * Whether the conversation itself may be the reason, so that a plainer rendering of it may be taken: the provider points at it, or refuses the
 * request without a reason. It is not where the provider names a setting.
 */
export const mayBeHistory = ({ kind, status, refused }: Pick<SentFailure, "kind" | "status" | "refused">): boolean =>
  refused === undefined ? kind === "invalid_param" && (status === 400 || status === 422) : OF_HISTORY.has(refused);

const OF_HISTORY: ReadonlySet<RefusedPart> = new Set([
  "history",
  "system",
  "alternate_roles",
  "call_ids",
  "reasoning_wanted",
  "reasoning_unknown",
]);
