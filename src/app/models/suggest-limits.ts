/** Reports what a provider's refusal says about a model to the registry, in the background of the call: limits, and quirks of its endpoint. */
import type { TenantId } from "../../domain/ids";
import type { SuggestedLimit } from "../model-entry";
import type { CallOptions, ChatModel, Log, ModelFailure, ModelRequest, ModelStreamPart } from "../ports";
import { toLesson } from "../request/lessons";
import type { TenantApi } from "../tenant-api";

/** Reports a limit to the tenant's registry. It does not throw, and the caller does not wait for it. */
export type SuggestLimit = (suggested: SuggestedLimit) => void;

interface SuggestionPorts {
  readonly tenant: TenantId;
  readonly stub: Pick<TenantApi, "suggestLimit">;
  readonly log: Log;
}

/** Sends a suggestion to the tenant's object. Never rejects: a suggestion that fails is logged, and the next refusal repeats it. */
export async function sendSuggestion(suggested: SuggestedLimit, { tenant, stub, log }: SuggestionPorts): Promise<void> {
  try {
    await stub.suggestLimit(suggested);
  } catch (error) {
    log.warn("limit.not_suggested", { tenant_id: tenant, model: suggested.model, error });
  }
}

/** Null when the failure names no limit, or one that is not the model's. */
function toSuggested({ id }: ModelRequest["model"], { kind, limit, window }: ModelFailure): SuggestedLimit | null {
  if (limit === undefined) return null;
  if (kind === "overflow") return { model: id, context_window: limit, source: "provider_error" };
  if (kind !== "output_cap") return null;
  // What one long request left for its reply is no limit for other requests.
  return window !== undefined
    ? { model: id, context_window: window, source: "provider_error" }
    : { model: id, max_output: limit, source: "provider_error" };
}

/** What a refusal teaches about the endpoint. Null: nothing. */
function toLearned({ model }: ModelRequest, failure: ModelFailure, sent: number): SuggestedLimit | null {
  const quirks = toLesson(model, { ...failure, sent });
  return quirks && { model: model.id, quirks, source: "provider_error" };
}

/** Wraps the model without changing its chunks. */
export function withSuggestions(model: ChatModel, suggest: SuggestLimit): ChatModel {
  async function* listen(request: ModelRequest, options: CallOptions): AsyncGenerator<ModelStreamPart, void, undefined> {
    let sent = 0;
    const onRequest = (body: string): void => {
      sent = body.length;
      options.onRequest?.(body);
    };
    for await (const chunk of model.stream(request, { ...options, onRequest })) {
      const { failure = null } = chunk.type === "failure" ? chunk : {};
      const suggested = failure && (toSuggested(request.model, failure) ?? toLearned(request, failure, sent));
      if (suggested) suggest(suggested);
      yield chunk;
    }
  }
  return {
    stream: listen,
    render: (request) => model.render(request),
  };
}
