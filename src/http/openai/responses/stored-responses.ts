/** Responses that exist: read, resumed, cancelled and deleted. */
import { type OpenAPIHono, z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { err, ok, type Result } from "../../../lib/result";
import { requireScope } from "../../auth";
import type { HttpDeps, HttpEnv } from "../../deps";
import { sendEvents } from "../../event-stream";
import { type HttpError, sendProblem } from "../../problem";
import { actingClient, type SessionCalls, sessionClient } from "../../session-calls";
import { refuseStream } from "../../stream-limits";
import { type NamedLeg, readIdTime, toLegName } from "../../surface/ids";
import { translateStream } from "../../surface/translate-stream";
import { toFieldErrors } from "../../validation";
import { deleteTurn } from "./delete-response";
import { ResponseFold } from "./frames";
import { buildResource, type FoundResponse, findResponse, parseResponseName } from "./read-response";
import { RESPONSE_PREFIX } from "./show-response";
import { createResponseTranslator } from "./translator";

const PATH = "/v1/responses/:response_id";

export function registerStoredResponses(app: OpenAPIHono<HttpEnv>, deps: HttpDeps): void {
  const [reads, writes] = [requireScope("sessions:read", null), requireScope("sessions:write", null)];
  app.get(PATH, reads, (c) => retrieve(c, deps));
  app.delete(PATH, requireScope("sessions:erase", null), (c) => remove(c, deps));
  app.post(`${PATH}/cancel`, writes, (c) => cancel(c, deps));
}

const query = z.object({
  stream: z.enum(["true", "false"], "must be true or false").default("false"),
  starting_after: z.coerce.number("must be a sequence number").int().min(0).optional(),
});

interface Named {
  readonly calls: SessionCalls;
  readonly leg: NamedLeg;
  readonly found: FoundResponse;
}

/** A response of a session that is gone is as unknown as one that never was. */
async function findNamed(c: Context<HttpEnv>, deps: HttpDeps): Promise<Result<Named, HttpError>> {
  const name = c.req.param("response_id") ?? "";
  const unknown = err({ code: "turn_not_found" as const, turn: name });
  const leg = parseResponseName(name);
  if (!leg) return unknown;
  const calls = sessionClient(deps, c, leg.session);
  const found = await findResponse(calls, leg);
  // One that is not stored may still be there for the connection that asked for it.
  if (found.ok) return found.value.asked.store ? ok({ calls, leg, found: found.value }) : unknown;
  return found.error.code === "session_not_found" || found.error.code === "session_erased" ? unknown : found;
}

async function retrieve(c: Context<HttpEnv>, deps: HttpDeps): Promise<Response> {
  const asked = query.safeParse(c.req.query());
  if (!asked.success) return sendProblem(c, { code: "invalid_request", errors: toFieldErrors(asked.error.issues) });
  const named = await findNamed(c, deps);
  if (!named.ok) return sendProblem(c, named.error);
  const full = asked.data.stream === "true" ? await refuseStream(c, deps) : null;
  if (full) return sendProblem(c, full);
  return asked.data.stream === "true" ? resume(c, named.value, asked.data.starting_after ?? null) : show(c, named.value);
}

async function show(c: Context<HttpEnv>, { calls, leg, found }: Named): Promise<Response> {
  const shown = await buildResource(calls, leg, found);
  return shown.ok ? c.json(shown.value) : sendProblem(c, shown.error);
}

/** The events are told again from the first one, and those that the client has are left out. */
async function resume(c: Context<HttpEnv>, { calls, leg, found }: Named, after: number | null): Promise<Response> {
  const { turn } = leg;
  const whole = await buildResource(calls, leg, found);
  if (!whole.ok) return sendProblem(c, whole.error);
  const frames = await calls.repeatable((api, caller) => api.stream(caller, { after: null, turn }));
  if (!frames.ok) return sendProblem(c, frames.error);
  const { asked, compaction, runs, approvals } = found;
  const head = { id: toLegName(RESPONSE_PREFIX, leg), created_at: Math.floor(readIdTime(turn) / 1_000), asked, compaction };
  const fold = new ResponseFold({ head, leg, from: 1, runs, approvals });
  return sendEvents(c, translateStream(frames.value, createResponseTranslator(fold, after)));
}

/** What was said so far is kept. A response that is over stays as it is. */
async function cancel(c: Context<HttpEnv>, deps: HttpDeps): Promise<Response> {
  const named = await findNamed(c, deps);
  if (!named.ok) return sendProblem(c, named.error);
  const { calls, leg, found } = named.value;
  if (!found.asked.background)
    return sendProblem(c, { code: "invalid_request", errors: [{ field: "response_id", detail: "Cannot cancel a synchronous response." }] });
  await endTurn(calls, found);
  const after = await findResponse(calls, leg);
  return after.ok ? show(c, { calls, leg, found: after.value }) : sendProblem(c, after.error);
}

/** A turn that waits for its client has answered already. It may end by itself meanwhile. */
async function endTurn(calls: SessionCalls, { turn: { id, status } }: FoundResponse): Promise<void> {
  if (status === "queued" || status === "generating" || status === "running_tools")
    await calls.repeatable((api, caller) => api.stop(caller, { turn: id, idempotency: null }));
}

async function remove(c: Context<HttpEnv>, deps: HttpDeps): Promise<Response> {
  const named = await findNamed(c, deps);
  if (!named.ok) return sendProblem(c, named.error);
  const { calls, leg, found } = named.value;
  await endTurn(calls, found);
  const deleted = await deleteTurn(actingClient(deps, c, calls.session), leg, found.asked);
  if (!deleted.ok) return sendProblem(c, deleted.error);
  return c.json({ id: toLegName(RESPONSE_PREFIX, leg), object: "response", deleted: true });
}
