/** OpenAI's Responses API, for an organisation that stores nothing (`store: false`). */

import type { ResponseOutputItem } from "openai/resources/responses/responses";
import { CommonPrefixCache, countAll } from "../caches.ts";
import { Ids } from "../mint.ts";
import { type Accepted, type Dialect, isRefusal, type Received, type Refusal, type ScriptedReply } from "../script.ts";
import { findFault } from "../shape.ts";
import { refuseAddress, refuseFault, refuseOverflow, refuseWith } from "./errors.ts";
import { type EventsInput, EventWriter, toFrames, toItems, toWhole } from "./responses-events.ts";
import { type Given, refuseGeneration, refuseItems } from "./responses-rules.ts";
import { type InputItem, readItem, responsesBody, tool } from "./responses-shape.ts";

export interface ResponsesOptions {
  readonly window: number;
  /** Thinking is summarised even if the request does not ask for it, as with gateways that ask by themselves. */
  readonly summaries?: boolean;
}

export function createResponses({ window, summaries = false }: ResponsesOptions): Dialect {
  const cache = new CommonPrefixCache({ least: 1_024, step: 128 });
  const ids = new Ids();
  const given = new Map<string, string>();
  return {
    basePath: "/v1",
    receive(received) {
      const read = readRequest(received, given);
      if (isRefusal(read)) return read;
      const { body, segments } = read;
      const input = countAll(segments);
      const overflow = refuseOverflow({ input, window });
      if (overflow) return overflow;
      const key = `${body.model} ${body.prompt_cache_key ?? ""}`;
      const usage = { input, cacheRead: cache.read(key, segments), cacheWrite: null };
      const writer = new EventWriter();
      const toInput = (reply: ScriptedReply): EventsInput => {
        cache.write(key, segments);
        const encrypted = body.include?.includes("reasoning.encrypted_content") ?? false;
        const items = toItems(reply.blocks, ids, { encrypted, summaries: summaries || Boolean(body.reasoning?.summary) });
        remember(items, given);
        return { reply, items, usage, response: { id: ids.next("resp_"), model: body.model, maxOutput: body.max_output_tokens ?? null } };
      };
      return {
        usage,
        frames: (reply) => toFrames(toInput(reply), writer),
        whole: (reply) => toWhole(toInput(reply)),
        eventFrame: (event) => writer.frame(event as { type: string }),
      } satisfies Accepted;
    },
  };
}

/** An item needs the reasoning directly before it. If there are several, the last one. */
function remember(items: readonly ResponseOutputItem[], given: Map<string, string>): void {
  let reasoning: string | null = null;
  for (const item of items) {
    if (item.type === "reasoning") reasoning = item.id;
    else if (reasoning !== null && item.id) {
      given.set(item.id, reasoning);
      reasoning = null;
    }
  }
}

function readRequest(received: Received, given: Given) {
  const refused = refuseAddress(received, "/v1/responses");
  if (refused) return refused;
  const parsed = responsesBody.safeParse(received.body);
  if (!parsed.success) return refuseFault(findFault(parsed.error, received.body));
  const body = parsed.data;
  const items: InputItem[] = [];
  for (const [place, raw] of body.input.entries()) {
    const item = readItem(raw);
    if (!item.success) {
      const fault = findFault(item.error, raw);
      return refuseFault({ ...fault, path: ["input", place, ...fault.path] });
    }
    items.push(item.data);
  }
  for (const [place, raw] of (body.tools ?? []).entries()) {
    const read = tool.safeParse(raw);
    if (!read.success) return refuseFault({ ...findFault(read.error, raw), path: ["tools", place, ...findFault(read.error, raw).path] });
  }
  if (body.store !== false) return keepsNothing();
  const unsupported = refuseGeneration(body);
  if (unsupported) return unsupported;
  const refusal = refuseItems(items, given);
  if (refusal) return refusal;
  return { body, segments: [JSON.stringify(body.tools ?? []), body.instructions ?? "", ...items.map((item) => JSON.stringify(item))] };
}

/** Longhand stores the conversation itself, so a request that lets the provider store a copy is a fault. */
const keepsNothing = (): Refusal =>
  refuseWith({ message: "Zero data retention is enabled for this organization: `store` must be false.", param: "store" });
