/** Stands between the session and its model, and records requests, replies and their cost. */
import type { ChatModel, ModelRequest, ModelStreamPart } from "../../src/app/ports.ts";
import { estimateTokens } from "../../src/context/tokens.ts";
import type { TokenCounts } from "../../src/contract/evaluation.ts";
import { NO_TOKENS, plus, relativeCost } from "../../src/evaluate/costs.ts";
import { PromptCache } from "../../src/evaluate/prompt-cache.ts";
import { messageText, sumTokens } from "../../src/evaluate/segments.ts";
import { trueTokens } from "../lab/true-tokens.ts";

export class Listener implements ChatModel {
  readonly #model: ChatModel;
  /** A provider with automatic caching, as in the lab. The embedded model has no cache. */
  readonly #cache = new PromptCache(trueTokens);
  #spent: TokenCounts = NO_TOKENS;
  /** Data of the newest turn. */
  requests: ModelRequest[] = [];
  said = "";
  /** When off, requests do not count towards the cost. */
  counting = true;

  constructor(model: ChatModel) {
    this.#model = model;
  }

  /** Cost of all calls so far at the lab's prices, in tokens of plain input. */
  get cost(): number {
    return relativeCost(this.#spent);
  }

  render(request: ModelRequest) {
    return this.#model.render(request);
  }

  async *stream(request: ModelRequest, options: Parameters<ChatModel["stream"]>[1]): AsyncGenerator<ModelStreamPart> {
    const isTurn = request.purpose === "turn";
    if (isTurn) this.requests.push(request);
    let said = "";
    let output = 0;
    for await (const chunk of this.#model.stream(request, options)) {
      if (chunk.type === "text") said += chunk.text;
      if (chunk.type === "tool_call") output += estimateTokens(`${chunk.call.name} ${chunk.call.arguments}`);
      yield chunk;
    }
    if (isTurn) this.said = said;
    if (this.counting) this.#count(request, output + estimateTokens(said));
  }

  #count({ system, messages, tools }: ModelRequest, output: number): void {
    const shown = tools.map(({ name, description, parameters }) => ({ name, description, parameters }));
    const segments = [
      ...(tools.length > 0 ? [trueTokens.of("system", JSON.stringify(shown))] : []),
      ...(system === null ? [] : [trueTokens.of("system", system)]),
      ...messages.map(({ role, parts }) => trueTokens.of(role, messageText(parts))),
    ];
    this.#spent = plus(this.#spent, { input: sumTokens(segments), cached: this.#cache.read(segments), output });
  }
}
