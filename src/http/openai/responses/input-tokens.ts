/** `POST /v1/responses/input_tokens`: how large a request would be if it were sent. Nothing is sent or stored. */
import { z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { estimateTokens } from "../../../context/tokens";
import type { ContextWeights } from "../../../contract/context";
import type { DisplayItem } from "../../../contract/item";
import { finishReason } from "../../../contract/model-call";
import type { SessionId, TurnId } from "../../../domain/ids";
import { err, ok, type Result } from "../../../lib/result";
import { readPrincipal } from "../../auth";
import { callWithRetry } from "../../calls";
import type { HttpDeps, HttpEnv } from "../../deps";
import { type HttpError, sendProblem } from "../../problem";
import { sessionClient } from "../../session-calls";
import { ofSessionModel } from "../../session-model";
import { type NamedLeg, parseLegName, parseSessionName } from "../../surface/ids";
import { readKnown } from "../../surface/ignored";
import { readRuns, sortRuns } from "../../surface/read-runs";
import { weighAdded, weighRest } from "../../surface/weigh-input";
import { readGiven } from "../items/read-given";
import type { ReadInput } from "../items/transcript";
import { splitLegs } from "./leg";
import { toUnknownPlace } from "./refusal";
import { toReferencePlace } from "./request";

const anything = z.unknown().optional();
const countInput = z.strictObject({
  model: z.string().min(1).nullish(),
  input: z.unknown().optional(),
  instructions: z.string().nullish(),
  conversation: z.union([z.string(), z.looseObject({ id: z.string() })]).nullish(),
  previous_response_id: z.string().nullish(),
  tools: z.array(z.looseObject({ type: z.string() })).nullish(),
  text: z.looseObject({ format: z.unknown().optional() }).nullish(),
  // None of these adds text to a request.
  parallel_tool_calls: anything,
  personality: anything,
  reasoning: anything,
  tool_choice: anything,
  truncation: anything,
});
type CountInput = z.infer<typeof countInput>;
type Read<T> = Result<T, HttpError>;

const refuse = (field: string, detail: string): Read<never> => err({ code: "invalid_request", errors: [{ field, detail }] });

export async function countInputTokens(c: Context<HttpEnv>, deps: HttpDeps): Promise<Response> {
  const parsed = await readKnown(c, countInput);
  if (!parsed.ok) return sendProblem(c, parsed.error);
  const place = findPlace(parsed.value);
  if (!place.ok) return sendProblem(c, place.error);
  const input = await readInput(c, deps, parsed.value);
  if (!input.ok) return sendProblem(c, input.error);
  const unknown = await findModelFault(c, deps, parsed.value.model ?? null);
  if (unknown) return sendProblem(c, unknown);
  const named = weighNamed(parsed.value);
  const own = (named.system ?? 0) + (named.tools ?? 0) + named.format + weighAll(input.value);
  const rest = await weighPlace(c, deps, place.value);
  if (!rest.ok) return sendProblem(c, toUnknownPlace(rest.error, parsed.value));
  const before = rest.value.reduce((sum, weights) => sum + weighRest(weights, named), 0);
  return c.json({ object: "response.input_tokens", input_tokens: Math.ceil(own + before) });
}

/** What the input continues. Null: nothing. */
type Place = NamedLeg | { readonly session: SessionId; readonly turn: null } | null;

function findPlace({ conversation, previous_response_id: previous }: CountInput): Read<Place> {
  if (conversation && previous) return refuse("previous_response_id", "not together with conversation");
  if (previous) {
    const leg = parseLegName("resp_", previous);
    return leg ? ok(leg) : err(toUnknownPlace({ code: "turn_not_found", turn: previous }, { previous_response_id: previous }));
  }
  if (!conversation) return ok(null);
  const session = parseSessionName("conv_", typeof conversation === "string" ? conversation : conversation.id);
  return session ? ok({ session, turn: null }) : err({ code: "session_not_found" });
}

const NOTHING: ReadInput = { messages: [], results: [], approvals: [], unanswered: [] };

async function readInput(c: Context<HttpEnv>, deps: HttpDeps, { input, ...body }: CountInput): Promise<Read<ReadInput>> {
  if (input === undefined || input === null) return ok(NOTHING);
  const given = await readGiven(c, deps, { field: "input", items: input, place: toReferencePlace(body) });
  return given.ok ? ok(given.value.input) : given;
}

async function findModelFault(c: Context<HttpEnv>, deps: HttpDeps, model: string | null): Promise<HttpError | null> {
  if (model === null) return null;
  const found = await callWithRetry(
    () => deps.tenants(readPrincipal(c).tenant),
    (api) => api.getModel(model),
  );
  if (found.ok) return null;
  return found.error.code === "model_not_found" ? { code: "unknown_model", model } : found.error;
}

const weighJson = (value: unknown): number => estimateTokens(JSON.stringify(value));

const weighNamed = ({ instructions, tools, text }: CountInput) => ({
  system: instructions ? estimateTokens(instructions) : null,
  tools: tools ? weighJson(tools) : null,
  format: text?.format ? weighJson(text.format) : 0,
});

const weighAll = ({ messages, results }: ReadInput): number =>
  [
    ...messages.map((message) =>
      message.role === "tool"
        ? weighAdded({ parts: [], calls: [], results: [message] })
        : weighAdded({ parts: message.parts.map(({ part }) => part), calls: message.calls, results: [] }),
    ),
    ...results.map(({ result }) => weighAdded({ parts: [], calls: [], results: [result] })),
  ].reduce((sum, weight) => sum + weight, 0);

/** What the model reads before the input. After an earlier turn it is that turn's last request. */
async function weighPlace(c: Context<HttpEnv>, deps: HttpDeps, place: Place): Promise<Read<readonly ContextWeights[]>> {
  if (place === null) return ok([]);
  const { session, turn } = place;
  const calls = sessionClient(deps, c, session);
  if (turn !== null) {
    const earlier = await weighEarlierLeg(calls, place);
    if (!earlier.ok) return earlier;
    if (earlier.value) return ok(earlier.value);
  }
  if (turn !== null && !(await isNewest(calls, turn))) {
    const past = await calls.repeatable((api, caller) => api.contextAt(caller, { turn, call: null }));
    return past.ok ? ok([past.value]) : err(ofSessionModel(past.error));
  }
  const report = await calls.repeatable((api, caller) => api.context(caller, { content: null }));
  return report.ok ? ok([report.value]) : err(ofSessionModel(report.error));
}

async function isNewest(calls: ReturnType<typeof sessionClient>, turn: TurnId): Promise<boolean> {
  const described = await calls.repeatable((api, caller) => api.describe(caller));
  return !described.ok || (described.value.turn ?? described.value.last_turn)?.id === turn;
}

const ANSWERED: ReadonlySet<string | null> = new Set(finishReason.options);

/** An earlier leg of a turn: its last request, and what that led to. Null: the leg is its turn's last. */
async function weighEarlierLeg(
  calls: ReturnType<typeof sessionClient>,
  { turn, leg }: NamedLeg,
): Promise<Read<readonly ContextWeights[] | null>> {
  const report = await calls.repeatable((api, caller) => api.turn(caller, turn));
  if (!report.ok) return report;
  const runs = await readRuns(calls, report.value.items);
  if (!runs.ok) return runs;
  const legs = splitLegs(report.value.items, sortRuns(runs.value));
  if (leg > legs.length) return err({ code: "turn_not_found", turn });
  if (leg === legs.length) return ok(null);
  const own = legs.slice(0, leg).flat();
  const last = await calls.repeatable((api, caller) => api.contextAt(caller, { turn, call: null }));
  if (!last.ok) return err(ofSessionModel(last.error));
  // Each reply came from one call that was answered.
  const answered = last.value.calls.filter(({ outcome }) => ANSWERED.has(outcome));
  const call = answered[own.filter(({ role }) => role === "assistant").length - 1]?.n ?? null;
  const past = await calls.repeatable((api, caller) => api.contextAt(caller, { turn, call }));
  if (!past.ok) return err(ofSessionModel(past.error));
  const led = weighReply(own.slice(own.findLastIndex(({ role }) => role === "assistant")));
  return ok([past.value, { ...past.value, parts: [], total: { ...past.value.total, tokens: led } }]);
}

const weighReply = (messages: readonly DisplayItem[]): number =>
  messages
    .map(({ role, content, tool_calls: calls = [] }) => {
      const output = content.map((part) => (part.type === "text" ? part.text : "")).join("");
      return role === "tool"
        ? weighAdded({ parts: [], calls: [], results: [{ output }] })
        : weighAdded({ parts: [{ type: "text", text: output }], calls, results: [] });
    })
    .reduce((sum, weight) => sum + weight, 0);
