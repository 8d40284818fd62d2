/** `POST /v1/responses/compact`: a conversation made short. The client keeps the result, and sends it instead of the conversation. */
import { z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { copySession } from "../../../app/branch/copy-session";
import type { ForkCut } from "../../../app/fork-parts";
import type { DisplayItem } from "../../../contract/item";
import type { TurnReport } from "../../../contract/turn";
import type { FileId, ItemId, SessionId } from "../../../domain/ids";
import type { CallUsage } from "../../../domain/model-call";
import { err, ok, type Result } from "../../../lib/result";
import { readPrincipal } from "../../auth";
import type { HttpDeps, HttpEnv } from "../../deps";
import { type HttpError, sendProblem } from "../../problem";
import { modelName } from "../../schemas/model";
import { type SessionCalls, sessionClient } from "../../session-calls";
import { parseLegName } from "../../surface/ids";
import { readKnown } from "../../surface/ignored";
import { readRuns, sortRuns } from "../../surface/read-runs";
import { openThrowaway, type Throwaway, toThrowaway } from "../../surface/throwaway";
import { holdFiles } from "../../take-files";
import { toOpenAiError } from "../error-body";
import { toCompactionItem } from "../items/compaction-item";
import { readGiven } from "../items/read-given";
import { storeItems } from "../items/store-items";
import type { ReadInput } from "../items/transcript";
import { compactNow, type NoSummary, readCompacted } from "./compact-session";
import { findLegPlace } from "./leg";
import { toReferencePlace } from "./request";
import { toResponseUsage } from "./resource";

const compactInput = z.strictObject({
  model: modelName,
  input: z.unknown().optional(),
  instructions: z.string().nullish(),
  previous_response_id: z.string().nullish(),
  // None of these changes what is compacted.
  prompt_cache_key: z.unknown().optional(),
  prompt_cache_options: z.unknown().optional(),
  prompt_cache_retention: z.unknown().optional(),
  service_tier: z.unknown().optional(),
  image: z.unknown().optional(),
});
type Previous = NonNullable<ReturnType<typeof parseLegName>>;
type CompactBody = z.infer<typeof compactInput>;

/** Without a call of a model nothing was used. */
const NO_USAGE: CallUsage = { input: 0, output: 0, cached: 0, reasoning: 0 };

type Read<T> = Promise<Result<T, HttpError>>;

const refuse = (field: string, detail: string) => err({ code: "invalid_request" as const, errors: [{ field, detail }] });

export async function compact(c: Context<HttpEnv>, deps: HttpDeps): Promise<Response> {
  const body = await readKnown(c, compactInput);
  if (!body.ok) return sendProblem(c, body.error);
  const input = await readInput(c, deps, body.value);
  if (!input.ok) return sendProblem(c, input.error);
  const opened = await openSession(c, deps, body.value);
  if (!opened.ok) return sendProblem(c, opened.error);
  try {
    return await compactIn(c, deps, { ...input.value, session: opened.value.session });
  } finally {
    opened.value.discard();
  }
}

interface Given {
  readonly input: ReadInput;
  /** The items of the input, as the client sent them. A text is its only item. */
  readonly raw: readonly unknown[];
}

async function readInput(c: Context<HttpEnv>, deps: HttpDeps, body: CompactBody): Read<Given> {
  const given = body.input ?? [];
  const isEmpty = Array.isArray(given) && given.length === 0;
  if (isEmpty && !body.previous_response_id) return refuse("input", "Missing required parameter: 'input'.");
  const read = await readGiven(c, deps, { field: "input", items: given, place: toReferencePlace(body) });
  if (!read.ok) return read;
  const { input, opened } = read.value;
  return ok({ input, raw: Array.isArray(opened) ? opened : [given] });
}

/** A session for this request alone: an empty one, or a copy of what the previous response has read and said. */
async function openSession(c: Context<HttpEnv>, deps: HttpDeps, body: CompactBody): Read<Throwaway> {
  const { model, instructions, previous_response_id: previous } = body;
  const leg = previous ? parseLegName("resp_", previous) : null;
  if (previous && !leg) return err({ code: "turn_not_found", turn: previous });
  const opened = leg ? await copyPast(c, deps, leg) : await openThrowaway(c, deps, { model });
  if (!opened.ok) return opened;
  const changes = { ...(leg && { model }), ...(instructions && { system: instructions }) };
  if (Object.keys(changes).length === 0) return opened;
  const { session, discard } = opened.value;
  const changed = await sessionClient(deps, c, session).repeatable((api, caller) => api.patch(caller, changes));
  if (changed.ok) return opened;
  discard();
  return changed;
}

/** Copies the conversation up to the end of the response. One that is under way has no end. */
async function copyPast(c: Context<HttpEnv>, deps: HttpDeps, previous: Previous): Read<Throwaway> {
  const { session: from } = previous;
  const source = sessionClient(deps, c, from);
  const end = await findEnd(source, previous);
  if (!end.ok) return end;
  const to = deps.newId("ses");
  const copy = toThrowaway(c, deps, to);
  const hold = (files: readonly FileId[]) => holdFiles(c, deps, { session: to, files, throwaway: "names" });
  const { repeatable: target } = sessionClient(deps, c, to);
  const copied = await copySession({ source: source.repeatable, target, hold, from, to, ...end.value, title: null, throwaway: true });
  if (copied.ok) return ok(copy);
  copy.discard();
  return copied.error.code === "invalid" ? refuse("previous_response_id", "the response is not complete") : copied;
}

const ENDED: ReadonlySet<TurnReport["status"]> = new Set(["completed", "failed", "stopped", "interrupted"]);

interface End {
  readonly at: number;
  readonly cut?: ForkCut;
}

async function findEnd(calls: SessionCalls, { turn, leg }: Previous): Read<End> {
  const report = await calls.repeatable((api, caller) => api.turn(caller, turn));
  if (!report.ok) return report;
  const { status, items, message_id: asked } = report.value;
  const runs = await readRuns(calls, items);
  if (!runs.ok) return runs;
  const place = findLegPlace(report.value, leg, sortRuns(runs.value));
  if (place === undefined) return err({ code: "turn_not_found", turn });
  if (place) return ok(place);
  if (!ENDED.has(status)) return refuse("previous_response_id", "the response is not complete");
  const last = items.at(-1);
  const calledLast = last?.tool_calls?.at(-1)?.position;
  if (last) return ok({ at: calledLast ?? last.position });
  const message = asked && (await calls.repeatable((api, caller) => api.message(caller, asked)));
  return message ? (message.ok ? ok({ at: message.value.position }) : message) : err({ code: "turn_not_found", turn });
}

interface Compacting extends Given {
  readonly session: SessionId;
}

async function compactIn(c: Context<HttpEnv>, deps: HttpDeps, { input, raw, session }: Compacting): Promise<Response> {
  const stored = await storeItems(c, deps, { session, input, idempotency: null, isThrowaway: true });
  if (!stored.ok) return sendProblem(c, stored.error);
  const calls = sessionClient(deps, c, session);
  const done = await compactNow(calls);
  if (!done.ok) return done.error.code === "no_summary" ? refuseWithoutSummary(c, done.error) : sendProblem(c, done.error);
  const whole = await readCompacted(calls, nameGiven(stored.value, { input, raw }));
  if (!whole.ok) return sendProblem(c, whole.error);
  const { users, compacted } = whole.value;
  const { tenant } = readPrincipal(c);
  const item = await toCompactionItem(compacted, { sealer: deps.compactionSealer, tenant, newId: deps.newId });
  return c.json({
    id: `resp_${deps.newId("cmp").slice("cmp_".length)}`,
    object: "response.compaction",
    created_at: Math.floor(deps.now() / 1_000),
    output: [...users, item],
    usage: toResponseUsage(done.value?.receipt?.usage ?? NO_USAGE),
  });
}

/** The messages of users as the client wrote them, by what they are now: a file of theirs ends with this request, and their own address stays. */
function nameGiven(stored: readonly DisplayItem[], { input, raw }: Given): ReadonlyMap<ItemId, unknown> {
  const messages = stored.slice(input.results.length);
  return new Map(
    input.messages.flatMap(({ role, field }, index) => {
      const id = messages[index]?.id;
      const [, place = 0, ofResult] = /^input\.(\d+)(\.output)?$/.exec(field) ?? [];
      const own = raw[Number(place)];
      return id && role === "user" ? [[id, ofResult ? readResultFiles(own, input.messages[index]) : own] as const] : [];
    }),
  );
}

const withOutput = z.looseObject({ output: z.array(z.looseObject({ type: z.string() })) });

/** A message that holds the files of a result, with the files as the client wrote them. */
function readResultFiles(own: unknown, message: ReadInput["messages"][number] | undefined): unknown {
  const read = withOutput.safeParse(own);
  const files = read.success ? read.data.output.filter(({ type }) => type === "input_image" || type === "input_file") : [];
  const labels = message?.role === "user" ? message.parts.flatMap(({ part }) => (part.type === "text" ? [part.text] : [])) : [];
  return { content: [...labels.map((text) => ({ type: "input_text", text })), ...files] };
}

/** The SDK would send a failed request again, although the engine has tried already. */
function refuseWithoutSummary(c: Context<HttpEnv>, { failure }: NoSummary): Response {
  c.header("x-should-retry", "false");
  const detail = `No summary could be had: ${failure}.`;
  const { status, body } = toOpenAiError({
    code: "compaction_failed",
    answer: { status: 502, title: "No summary", detail },
    requestId: c.get("requestId"),
  });
  return c.json(body, status);
}
