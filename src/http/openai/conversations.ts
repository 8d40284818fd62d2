/** OpenAI's conversations. A conversation is a session; deleting it erases the session. */
import { type OpenAPIHono, z } from "@hono/zod-openapi";
import type { Context } from "hono";
import type { SessionDescription } from "../../contract/session";
import type { SessionId } from "../../domain/ids";
import { err, ok, type Result } from "../../lib/result";
import { requireScope } from "../auth";
import { readLongBody } from "../body";
import { createSession } from "../create-session";
import type { HttpDeps, HttpEnv } from "../deps";
import { readIdempotency, readIdempotencyKey } from "../idempotency";
import { type HttpError, sendProblem } from "../problem";
import { eraseFor } from "../register-session";
import { metadataInput } from "../schemas/session";
import { actingClient, sessionClient } from "../session-calls";
import { readAttempt } from "../surface/attempts";
import { parseSessionName, toSessionName } from "../surface/ids";
import { readKnown } from "../surface/ignored";
import { findStored, readItem, readItemPage, showItems } from "./items/item-pages";
import { findQueryFault, readItemsQuery, toItemList } from "./items/list-query";
import { readGiven } from "./items/read-given";
import { storeItems } from "./items/store-items";

const PREFIX = "conv_";
const PATH = "/v1/conversations/:conversation_id";
/** OpenAI's own limit for one request. */
const MAX_ITEMS = 20;

const items = z.array(z.unknown()).max(MAX_ITEMS, `at most ${MAX_ITEMS} items`);
const createInput = z.strictObject({ items: items.nullish(), metadata: metadataInput.nullish() });
const updateInput = z.strictObject({ metadata: metadataInput.nullable() });
const itemsInput = z.strictObject({ items: items.min(1, "must not be empty") });

type Read<T> = Result<T, HttpError>;

const toConversation = ({ id, created_at, metadata }: Pick<SessionDescription, "id" | "created_at" | "metadata">) => ({
  id: toSessionName(PREFIX, id),
  object: "conversation",
  created_at: Math.floor(created_at / 1_000),
  metadata,
});

function findSessionId(c: Context<HttpEnv>): Read<SessionId> {
  const session = parseSessionName(PREFIX, c.req.param("conversation_id") ?? "");
  return session ? ok(session) : err({ code: "session_not_found" });
}

export function registerConversations(app: OpenAPIHono<HttpEnv>, deps: HttpDeps): void {
  const [reads, writes] = [requireScope("sessions:read", null), requireScope("sessions:write", null)];
  const erases = requireScope("sessions:erase", null);
  app.post("/v1/conversations", writes, readLongBody, (c) => create(c, deps));
  app.get(PATH, reads, (c) => retrieve(c, deps));
  app.post(PATH, writes, readLongBody, (c) => update(c, deps));
  app.delete(PATH, erases, (c) => remove(c, deps));
  app.post(`${PATH}/items`, writes, readLongBody, (c) => createItems(c, deps));
  app.get(`${PATH}/items`, reads, (c) => listItems(c, deps));
  app.get(`${PATH}/items/:item_id`, reads, (c) => retrieveItem(c, deps));
  app.delete(`${PATH}/items/:item_id`, erases, (c) => removeItem(c, deps));
}

async function create(c: Context<HttpEnv>, deps: HttpDeps): Promise<Response> {
  const body = await readKnown(c, createInput);
  if (!body.ok) return sendProblem(c, body.error);
  const key = readIdempotencyKey(c);
  if (!key.ok) return sendProblem(c, key.error);
  const input = await readGiven(c, deps, { field: "items", items: body.value.items ?? [], place: null });
  if (!input.ok) return sendProblem(c, input.error);
  const created = await createSession(deps, c, { body: { metadata: body.value.metadata ?? {} }, key: key.value });
  if (!created.ok) return sendProblem(c, created.error);
  const { session, replayed } = created.value;
  const idempotency = await readIdempotency(c, key.value);
  const appended = await storeItems(c, deps, { session: session.id, input: input.value.input, idempotency });
  if (appended.ok) return c.json(toConversation(session));
  // The client does not know the id of a conversation that was refused. With its key it may come back to it.
  if (!replayed && key.value === undefined) await eraseFor(deps, c, { session: session.id });
  return sendProblem(c, appended.error);
}

async function retrieve(c: Context<HttpEnv>, deps: HttpDeps): Promise<Response> {
  const session = findSessionId(c);
  if (!session.ok) return sendProblem(c, session.error);
  const described = await sessionClient(deps, c, session.value).repeatable((api, caller) => api.describe(caller));
  return described.ok ? c.json(toConversation(described.value)) : sendProblem(c, described.error);
}

async function update(c: Context<HttpEnv>, deps: HttpDeps): Promise<Response> {
  const session = findSessionId(c);
  if (!session.ok) return sendProblem(c, session.error);
  const body = await readKnown(c, updateInput);
  if (!body.ok) return sendProblem(c, body.error);
  const metadata = body.value.metadata ?? {};
  const patched = await actingClient(deps, c, session.value).repeatable((api, caller) => api.patch(caller, { metadata }));
  return patched.ok ? c.json(toConversation(patched.value)) : sendProblem(c, patched.error);
}

async function remove(c: Context<HttpEnv>, deps: HttpDeps): Promise<Response> {
  const session = findSessionId(c);
  if (!session.ok) return sendProblem(c, session.error);
  const erased = await eraseFor(deps, c, { session: session.value });
  if (!erased.ok) return sendProblem(c, erased.error);
  return c.json({ id: toSessionName(PREFIX, session.value), object: "conversation.deleted", deleted: true });
}

async function createItems(c: Context<HttpEnv>, deps: HttpDeps): Promise<Response> {
  const session = findSessionId(c);
  if (!session.ok) return sendProblem(c, session.error);
  const fault = findQueryFault(c);
  if (fault) return sendProblem(c, fault);
  const body = await readKnown(c, itemsInput);
  if (!body.ok) return sendProblem(c, body.error);
  const attempt = await readAttempt(c, deps);
  if (!attempt.ok) return sendProblem(c, attempt.error);
  const input = await readGiven(c, deps, { field: "items", items: body.value.items, place: { session: session.value, after: null } });
  if (!input.ok) return sendProblem(c, input.error);
  const appended = await storeItems(c, deps, { session: session.value, input: input.value.input, idempotency: attempt.value });
  if (!appended.ok) return sendProblem(c, appended.error);
  const data = await showItems(sessionClient(deps, c, session.value), appended.value);
  return data.ok ? c.json(toItemList({ data: data.value, has_more: false })) : sendProblem(c, data.error);
}

async function listItems(c: Context<HttpEnv>, deps: HttpDeps): Promise<Response> {
  const session = findSessionId(c);
  if (!session.ok) return sendProblem(c, session.error);
  const query = readItemsQuery(c);
  if (!query.ok) return sendProblem(c, query.error);
  const { after = null, limit, order } = query.value;
  const page = await readItemPage(sessionClient(deps, c, session.value), { after, limit, order });
  return page.ok ? c.json(toItemList(page.value)) : sendProblem(c, page.error);
}

async function retrieveItem(c: Context<HttpEnv>, deps: HttpDeps): Promise<Response> {
  const session = findSessionId(c);
  if (!session.ok) return sendProblem(c, session.error);
  const fault = findQueryFault(c);
  if (fault) return sendProblem(c, fault);
  const item = await readItem(sessionClient(deps, c, session.value), c.req.param("item_id") ?? "");
  return item.ok ? c.json(item.value) : sendProblem(c, item.error);
}

/** The content goes for good. An item at the end is gone for the model, too; of any other it reads that something was there. */
async function removeItem(c: Context<HttpEnv>, deps: HttpDeps): Promise<Response> {
  const session = findSessionId(c);
  if (!session.ok) return sendProblem(c, session.error);
  const calls = actingClient(deps, c, session.value);
  const found = await findStored(calls, c.req.param("item_id") ?? "");
  if (!found.ok) return sendProblem(c, found.error);
  for (const id of found.value) {
    const redacted = await calls.repeatable((api, caller) => api.redact(caller, id, { takesBack: true }));
    if (!redacted.ok) return sendProblem(c, redacted.error);
  }
  const described = await calls.repeatable((api, caller) => api.describe(caller));
  return described.ok ? c.json(toConversation(described.value)) : sendProblem(c, described.error);
}
