/**
 * A walk over every route with the ids of another tenant, and of another end user for a token of one: each is answered exactly as ids of
 * nothing. Only the id that was sent and the request's own id differ.
 */
import { env, exports } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { tenantObjectName } from "../../../src/app/object-name";
import type { SessionErasure } from "../../../src/contract/session";
import { CHANNEL_SECRETS, listAll, sampleBody, sampleQuery, world } from "../../http/support";
import { upload } from "../../workers/files";
import { projected } from "../../workers/moves";
import { type Chat, migrate, newChat, newId, newTenant, readBody, request, type Tenant } from "../../workers/support";

/** `POST /v1/sessions/:session_id/messages`. Only those whose path or body names something of a tenant. */
const routes = listAll(world().app).filter(({ path }) => /:(?!file$|policy_name$)/.test(path) && !path.startsWith("/v1/admin/"));

type Ids = Readonly<Record<string, string>>;

let owner: Chat;
let stranger: Tenant;
let visitor: string;
let foreign: Ids;

const OWN_NAME = /:(schedule_name|credential_name|channel_name|tool_name|server_name|external_id|chat_id|model_id)/;
/** Creates what its path names, in the caller's own tenant: there is nothing to find. */
const creates = ({ method, path }: { readonly method: string; readonly path: string }): boolean => method === "PUT" && OWN_NAME.test(path);

beforeAll(async () => {
  await migrate();
  const look = { name: "look", description: "Looks", parameters: { type: "object" } };
  const call = { id: "call_1", name: "look", arguments: '{"at":"planted"}' };
  owner = await newChat({ tools: [look], replies: [{ text: "A planted reply" }, { tool_calls: [call] }] });
  const { tenant } = owner;
  await readBody(await owner.call("PATCH", "", { end_user: "ada" }));
  const turn = await owner.say("A planted question");
  const [waiting] = (await owner.say("Look.")).open_calls;
  await projected(owner, "DB");
  stranger = await newTenant();
  const token = await readBody<{ token: string }>(await tenant.call("POST", "/v1/tokens", { end_user: "bob" }), 201);
  visitor = token.token;
  await readBody(await tenant.call("PUT", "/v1/credentials/planted", { api_key: "sk-planted-secret" }));
  await readBody(await tenant.call("PUT", "/v1/channels/planted", { type: "generic", credentials: CHANNEL_SECRETS }));
  const keys = await readBody<{ data: readonly { id: string }[] }>(await tenant.call("GET", "/v1/keys"));
  await readBody(await tenant.call("PUT", "/v1/sessions/by-external-id/planted-order", { end_user: "ada" }), 201);
  const session = owner.id.slice("ses_".length);
  const { id: gone } = await readBody<{ id: string }>(await tenant.call("POST", "/v1/sessions", {}), 201);
  const erased = await readBody<SessionErasure>(await tenant.call("DELETE", `/v1/sessions/${gone}`));
  foreign = {
    session_id: owner.id,
    conversation_id: `conv_${session}`,
    response_id: `resp_${session}${turn.id.slice("trn_".length)}`,
    turn_id: turn.id,
    message_id: turn.message_id ?? "",
    item_id: turn.message_id ?? "",
    key_id: keys.data[0]?.id ?? "",
    file_id: (await upload(tenant, new TextEncoder().encode("A planted file"))).id,
    export_id: (await readBody<{ id: string }>(await tenant.call("POST", "/v1/exports", { of: "tenant" }), 202)).id,
    execution_id: waiting?.id ?? "",
    import_id: await beginImport(tenant),
    model_id: owner.model.upstream,
    credential_name: "planted",
    channel_name: "planted",
    user_id: "planted-user",
    channel: "planted",
    tenant: owner.tenant.id,
    external_id: "planted-order",
    chat_id: "planted-order",
    erasure_id: erased.erasure_id ?? "",
    ...(await makeEndpoint(tenant)),
    end_user: "planted-person",
  };
});

/** An endpoint, and a test delivery to it. Its address answers nothing. */
async function makeEndpoint(tenant: Tenant): Promise<Ids> {
  const made = await tenant.call("POST", "/v1/webhook_endpoints", { url: "http://127.0.0.1:9/hooks" });
  const { id } = await readBody<{ id: string }>(made, 201);
  const tested = await tenant.call("POST", `/v1/webhook_endpoints/${id}/test`);
  return { endpoint_id: id, delivery_id: (await readBody<{ id: string }>(tested, 202)).id };
}

/** An import of the tenant, whose export is another's. */
async function beginImport(tenant: Tenant): Promise<string> {
  const input = {
    id: newId("imp"),
    source: { tenant: tenant.id, export: newId("exp") },
    bytes: 1,
    sessions: 1,
    mode: "keep",
    allowed: [],
  } as const;
  const act = { actor: { kind: "key", id: newId("key") }, request_id: null } as const;
  const begun = await env.TENANTS.getByName(tenantObjectName(tenant.id)).beginImport(act, input);
  if (!begun.ok) throw new Error(begun.error.code);
  return input.id;
}

function listAbsent(): Ids {
  const session = newId("ses");
  return {
    session_id: session,
    conversation_id: `conv_${session.slice("ses_".length)}`,
    response_id: `resp_${session.slice("ses_".length)}${newId("trn").slice("trn_".length)}`,
    turn_id: newId("trn"),
    message_id: newId("msg"),
    item_id: newId("msg"),
    key_id: newId("key"),
    file_id: newId("fil"),
    export_id: newId("exp"),
    execution_id: newId("exe"),
    import_id: newId("imp"),
    model_id: "m-of-nothing",
    credential_name: "absent",
    channel_name: "absent",
    user_id: "absent-user",
    channel: "absent",
    tenant: newId("ten"),
    external_id: "absent-order",
    chat_id: "absent-order",
    erasure_id: newId("era"),
    endpoint_id: newId("whk"),
    delivery_id: newId("dlv"),
    end_user: "absent-person",
  };
}

const others: Ids = { compaction_id: newId("cmp"), branch: "1" };
const ownNames: Ids = { schedule_name: "briefing", tool_name: "weather", server_name: "desk" };

const fill = (path: string, ids: Ids): string =>
  path.replace(/:([a-z_]+)/g, (_, name: string) => ids[name] ?? others[name] ?? ownNames[name] ?? "missing") + sampleQuery(path);

/** Our document does not describe the routes of `/api`, so that no answer of theirs can be held to it. */
function send(method: string, path: string, { key, body }: { key: string; body: unknown }): Promise<Response> {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  if (!path.startsWith("/api/")) return request(method, path, { key, ...(body !== undefined && { body }) });
  return exports.default.fetch(
    new Request(`https://longhand.test${path}`, { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) }),
  );
}

/** Status, headers and body, without what names the request or repeats an id of it. */
async function ask(route: { readonly method: string; readonly path: string }, key: string, ids: Ids): Promise<unknown> {
  const body = route.method === "GET" || route.method === "DELETE" ? undefined : sampleBody(route);
  const response = await send(route.method, fill(route.path, ids), { key, body });
  // The erasure of an end user is made by each request. It names itself, its time and the end user's digest.
  const isMade = route.path.startsWith("/v1/end-users/");
  const hideMade = (text: string): string => (isMade ? text.replace(/era_\w{26}|\b[0-9a-f]{64}\b|\b\d{13}\b/g, "MADE") : text);
  const hide = (text: string): string =>
    Object.values(ids).reduce(
      (hidden, id) => hidden.replaceAll(id, "ID"),
      hideMade(text).replaceAll(response.headers.get("x-request-id") ?? "", "REQUEST"),
    );
  const headers = [...response.headers].map(([name, value]) => (name === "date" ? name : hide(`${name}: ${value}`)));
  return {
    status: response.status,
    headers: headers.filter((line) => !line.startsWith("content-length")),
    body: hide(await response.text()),
  };
}

describe.each([
  ["another tenant's key", () => stranger.key],
  ["another end user's token", () => visitor],
] as const)("with %s", (_, key) => {
  it.each(routes.filter((route) => !creates(route)).map((route) => [`${route.method} ${route.path}`, route] as const))(
    "%s tells foreign ids from absent ones by nothing, and changes nothing",
    async (_name, route) => {
      const before = await owner.events();

      const found = await ask(route, key(), foreign);

      expect(found).toEqual(await ask(route, key(), listAbsent()));
      expect(JSON.stringify(found)).not.toContain("planted");
      expect(await owner.events()).toEqual(before);
    },
  );
});
