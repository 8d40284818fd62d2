/**
 * A warm-up (`generate: false`): a request whose input the connection keeps, until a request behind it completes it. No model is asked and
 * nothing is recorded before that, so that it is a response on its own connection alone.
 */
import { z } from "@hono/zod-openapi";
import { err, ok, type Result } from "../../../lib/result";
import type { HttpDeps } from "../../deps";
import type { HttpError } from "../../problem";
import { toLegName } from "../../surface/ids";
import type { NumberedEvent } from "./events";
import { readEcho } from "./input";
import type { ResponseRequest } from "./request";
import { buildResponse } from "./resource";
import { RESPONSE_PREFIX } from "./show-response";

/** What the request that completes it is made of. */
type Body = Readonly<Record<string, unknown>>;

const PREFIX = "warm:";
/** A value of the storage has at most 128 KiB: https://developers.cloudflare.com/durable-objects/platform/limits/ */
const PIECE_UNITS = 30_000;

export async function keepWarmUp(storage: Pick<DurableObjectStorage, "put">, body: Body): Promise<void> {
  const text = JSON.stringify(body);
  for (let from = 0, nth = 0; from < text.length; from += PIECE_UNITS, nth++)
    await storage.put(`${PREFIX}${String(nth).padStart(6, "0")}`, text.slice(from, from + PIECE_UNITS));
}

/** Null when there is none. */
export async function readWarmUp(storage: Pick<DurableObjectStorage, "list">): Promise<Body | null> {
  const pieces = await storage.list<string>({ prefix: PREFIX });
  return pieces.size === 0 ? null : JSON.parse([...pieces.values()].join(""));
}

export async function dropWarmUp(storage: Pick<DurableObjectStorage, "list" | "delete">): Promise<void> {
  for (const name of (await storage.list({ prefix: PREFIX })).keys()) await storage.delete(name);
}

const items = z.union([z.array(z.unknown()), z.string().transform((text) => [{ type: "message", role: "user", content: text }])]);

/** The request as a whole: at the place of the warm-up, with the input of both. An input that is none is refused as it is. */
export function completeWarmUp({ input: before, previous_response_id, conversation }: Body, next: Body): Record<string, unknown> {
  const [first, then] = [items.safeParse(before ?? []), items.safeParse(next.input ?? [])];
  const input = first.success && then.success ? [...first.data, ...then.data] : next.input;
  return { ...next, input, previous_response_id, conversation };
}

interface WarmResponse {
  readonly id: string;
  readonly events: readonly NumberedEvent[];
}

/** The response of a warm-up: it has no output, and nothing was used. */
export function buildWarmResponse(
  { newId, now }: Pick<HttpDeps, "newId" | "now">,
  request: ResponseRequest,
): Result<WarmResponse, HttpError> {
  const { body } = request;
  if (!body.model) return err({ code: "invalid_request", errors: [{ field: "model", detail: "a warm-up names its model" }] });
  const id = toLegName(RESPONSE_PREFIX, { session: newId("ses"), turn: newId("trn"), leg: 1 });
  const created_at = Math.floor(now() / 1_000);
  const head = { id, created_at, asked: readEcho(request, body.model), compaction: null };
  const shared = { completed_at: created_at, output: [] };
  const begun = buildResponse(head, { ...shared, end: { status: "in_progress" }, usage: null });
  const usage = { input: 0, output: 0, cached: 0, reasoning: 0 };
  const completed = buildResponse(head, { ...shared, end: { status: "completed" }, usage });
  const told = [
    { type: "response.created", response: begun },
    { type: "response.in_progress", response: begun },
    { type: "response.completed", response: completed },
  ];
  return ok({ id, events: told.map((event, sequence_number) => ({ ...event, sequence_number })) });
}
