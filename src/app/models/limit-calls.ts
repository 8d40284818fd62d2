/** Holds calls of models to the tenant's limit of a minute, before anything is sent. */
import type { LimitSet } from "../../contract/limits";
import type { TenantId } from "../../domain/ids";
import { listLimits } from "../limit-owners";
import type { ChatModel, Clock, CountedFor, ModelFailure, ModelRequest, ModelStreamPart } from "../ports";
import { callSubject } from "../rate-grants";
import type { RateMeter, RateRule } from "../rate-meter";

/** Milliseconds until a call may be made. Null: now, and it is counted. */
export type TakeCall = (request: ModelRequest) => Promise<number | null>;

interface CallLimitPorts {
  /** Null: the tenant has no limit. An answer may be cached. */
  readonly limits: (tenant: TenantId) => Promise<LimitSet | null>;
  readonly rates: RateMeter;
  readonly now: Clock;
}

export interface CallOwner extends CountedFor {
  readonly tenant: TenantId;
}

const listCallRules = (owner: CallOwner, limits: LimitSet): readonly RateRule[] =>
  listLimits("model_calls_per_minute", owner, limits).map(({ of, id, limit }) => ({ of, subject: callSubject(of, id), limit }));

/** A tenant's object that is out of reach stops no call: limits that are not known are none. */
export async function takeCall(owner: CallOwner, { limits, rates, now }: CallLimitPorts): Promise<number | null> {
  const known = await limits(owner.tenant).catch(() => null);
  const rules = known ? listCallRules(owner, known) : [];
  if (rules.length === 0) return null;
  const { refused } = await rates.admit(owner.tenant, rules);
  return refused && Math.max(1, refused.ends_at - now());
}

const toFailure = (wait: number): ModelFailure => ({ kind: "rate_limit", status: null, retry_after_ms: wait });

/** Asks for leave before the first chunk. Every later chunk is the model's own, without a step in between. */
function afterLeave(take: () => Promise<number | null>, open: () => AsyncIterable<ModelStreamPart>): AsyncIterable<ModelStreamPart> {
  let chunks: AsyncIterator<ModelStreamPart> | null = null;
  let isOver = false;
  async function begin(): Promise<IteratorResult<ModelStreamPart>> {
    const wait = await take();
    if (wait !== null) {
      isOver = true;
      return { done: false, value: { type: "failure", failure: toFailure(wait) } };
    }
    chunks = open()[Symbol.asyncIterator]();
    return chunks.next();
  }
  const end = async (): Promise<IteratorResult<ModelStreamPart>> => ({ done: true, value: undefined });
  return {
    [Symbol.asyncIterator]: () => ({
      next: () => (isOver ? end() : chunks ? chunks.next() : begin()),
      return: () => {
        isOver = true;
        return chunks?.return?.() ?? end();
      },
    }),
  };
}

/** A call beyond the limit fails as one that the provider limits: it is asked again after the wait, within the patience of its turn. */
export const withCallLimit = (model: ChatModel, take: TakeCall): ChatModel => ({
  stream: (request, options) =>
    afterLeave(
      () => take(request),
      () => model.stream(request, options),
    ),
  render: (request) => model.render(request),
});
