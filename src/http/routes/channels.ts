/** Puts, reads, lists and removes a tenant's channels: its bots on chat platforms. */
import { type OpenAPIHono, z } from "@hono/zod-openapi";
import type { ChannelAdapter } from "../../app/channels/channel";
import { type ChannelEntry, type ChannelSecrets, toChannelEtag, toChannelPlace } from "../../app/channels-api";
import { type ChannelView, channelView } from "../../contract/channel";
import { listView } from "../../contract/page";
import type { FieldError } from "../../contract/problem";
import type { TenantId } from "../../domain/ids";
import { urlFault } from "../../lib/public-address";
import { err, ok, type Result } from "../../lib/result";
import { readPrincipal } from "../auth";
import { callUnder, callWithRetry } from "../calls";
import { conditionHeaders, toCondition } from "../conditions";
import type { HttpDeps, HttpEnv } from "../deps";
import { channelExample } from "../examples/channels";
import { onePage } from "../examples/shared";
import { type HttpError, sendProblem } from "../problem";
import { readAct } from "../read-act";
import { json, jsonBody, taggedJson, tenantRoute } from "../routing";
import { channelInput, channelName, toChannelSettings, toChannelView } from "../schemas/channel";
import { namedPageQuery, takeListPage } from "../schemas/page";
import { faultOfName, toFieldErrors } from "../validation";

const tag = "channels";
const path = "/v1/channels/{channel_name}";
export const channelParams = z.object({
  channel_name: z.string().openapi({ example: "support", description: "The name that the tenant gave to the channel" }),
});

const list = tenantRoute({
  method: "get",
  path: "/v1/channels",
  tag,
  scope: "channels:read",
  operationId: "listChannels",
  summary: "List channels",
  description: "Lists the tenant's channels. Secrets are never returned.",
  request: { query: namedPageQuery() },
  responses: { 200: json("A page, in order of name", listView(channelView), onePage(channelExample)) },
});

const get = tenantRoute({
  method: "get",
  path,
  tag,
  scope: "channels:read",
  operationId: "getChannel",
  summary: "Read a channel",
  description: "Shows the settings of a channel, the names of its secrets, and where its platform sends webhooks.",
  refuses: ["channel_not_found"],
  request: { params: channelParams },
  responses: { 200: taggedJson("The channel", channelView, channelExample) },
});

const put = tenantRoute({
  method: "put",
  path,
  tag,
  scope: "channels:write",
  operationId: "putChannel",
  summary: "Create or replace a channel",
  description:
    "Stores the settings of a bot on a chat platform. A field that is not named has its default, except for `credentials`: without them the stored ones stay. New sessions have the new model, policy, system prompt and tools.",
  refuses: ["channel_limit", "credentials_disabled"],
  request: {
    params: channelParams,
    headers: conditionHeaders,
    body: jsonBody(channelInput, {
      type: "generic",
      credentials: {
        signature: "standard_webhooks",
        secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
        reply_url: "https://example.com/replies",
      },
      access: { mode: "pairing" },
    }),
  },
  responses: { 200: taggedJson("The channel. Webhooks and chats use the change within 30 seconds", channelView, channelExample) },
});

const remove = tenantRoute({
  method: "delete",
  path,
  tag,
  scope: "channels:write",
  operationId: "deleteChannel",
  summary: "Delete a channel",
  description:
    "Removes the channel with its secrets, paired users and log, and empties its chats. Its webhooks are refused within 30 seconds. Its sessions stay.",
  refuses: ["channel_not_found"],
  request: { params: channelParams, headers: conditionHeaders },
  responses: { 204: { description: "Removed" } },
});

/** In characters, as JSON. */
const MAX_SECRETS = 16_384;

const inSecrets = ({ field, detail }: FieldError): FieldError => ({
  field: field === "body" ? "credentials" : `credentials.${field}`,
  detail,
});

/** Every text whose name says that it is an address is called by the service. */
function findUrlFaults(secrets: Readonly<Record<string, unknown>>, allowPrivate: boolean): readonly FieldError[] {
  return Object.entries(secrets).flatMap(([field, value]) => {
    const detail = field.endsWith("_url") && typeof value === "string" ? urlFault(value, allowPrivate) : null;
    return detail === null ? [] : [inSecrets({ field, detail })];
  });
}

type Secrets = Readonly<Record<string, unknown>>;

/** The secrets as the adapter reads them. The errors quote no value. */
function checkSecrets(given: Secrets, adapter: ChannelAdapter<unknown>, allowPrivate: boolean): Result<Secrets, readonly FieldError[]> {
  if (JSON.stringify(given).length > MAX_SECRETS)
    return err([{ field: "credentials", detail: `at most ${MAX_SECRETS} characters of JSON` }]);
  const parsed = adapter.credentials.safeParse(given);
  if (!parsed.success) return err(toFieldErrors(parsed.error.issues).map(inSecrets));
  const secrets = Object.fromEntries(Object.entries(parsed.data ?? {}).filter(([, value]) => value !== undefined));
  const faults = findUrlFaults(secrets, allowPrivate);
  return faults.length > 0 ? err(faults) : ok(secrets);
}

/** Sealed here, so that no object gets a secret in the clear. */
async function sealSecrets(secrets: Secrets, place: { readonly tenant: TenantId; readonly name: string }, { sealer }: HttpDeps) {
  if (!sealer) return err<HttpError>({ code: "credentials_disabled" });
  const sealed = await sealer.seal(JSON.stringify(secrets), toChannelPlace(place.tenant, place.name));
  return ok<ChannelSecrets>({ names: Object.keys(secrets), sealed });
}

export function registerChannels(app: OpenAPIHono<HttpEnv>, deps: HttpDeps): void {
  const view = async (entry: ChannelEntry, tenant: TenantId): Promise<ChannelView> =>
    toChannelView(entry, await deps.channels.toWebhookTenant(tenant));

  app.openapi(list, async (c) => {
    const { tenant } = readPrincipal(c);
    const found = await callWithRetry(
      () => deps.tenants(tenant),
      (api) => api.listChannels(),
    );
    if (!found.ok) return sendProblem(c, found.error);
    const page = takeListPage(found.value, c.req.valid("query"), ({ name }) => name);
    return c.json({ ...page, data: await Promise.all(page.data.map((entry) => view(entry, tenant))) }, 200);
  });

  app.openapi(get, async (c) => {
    const { tenant } = readPrincipal(c);
    const found = await callWithRetry(
      () => deps.tenants(tenant),
      (api) => api.getChannel(c.req.valid("param").channel_name),
    );
    return found.ok ? c.json(await view(found.value, tenant), 200, { ETag: toChannelEtag(found.value) }) : sendProblem(c, found.error);
  });

  app.openapi(put, async (c) => {
    const { channel_name: name } = c.req.valid("param");
    const { tenant } = readPrincipal(c);
    const input = c.req.valid("json");
    const adapter = deps.channels.findAdapter(input.type);
    const checked = input.credentials && checkSecrets(input.credentials, adapter, deps.config.allowPrivateToolUrls);
    const errors = [...faultOfName("channel_name", channelName.safeParse(name)), ...(checked && !checked.ok ? checked.error : [])];
    if (errors.length > 0) return sendProblem(c, { code: "invalid_request", errors });
    const sealed = checked?.ok ? await sealSecrets(checked.value, { tenant, name }, deps) : ok(null);
    if (!sealed.ok) return sendProblem(c, sealed.error);
    const condition = toCondition(c.req.valid("header"));
    const stored = await callUnder(
      condition,
      () => deps.tenants(tenant),
      (api) => api.putChannel(readAct(c), { name, settings: toChannelSettings(input), secrets: sealed.value, condition }),
    );
    return stored.ok ? c.json(await view(stored.value, tenant), 200, { ETag: toChannelEtag(stored.value) }) : sendProblem(c, stored.error);
  });

  app.openapi(remove, async (c) => {
    const { channel_name } = c.req.valid("param");
    const removed = await deps.tenants(readPrincipal(c).tenant).deleteChannel(readAct(c), channel_name, toCondition(c.req.valid("header")));
    return removed.ok ? c.body(null, 204) : sendProblem(c, removed.error);
  });
}
