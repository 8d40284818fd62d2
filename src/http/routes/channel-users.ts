/** Pairs people with a private channel, and shows its log. */
import { type OpenAPIHono, z } from "@hono/zod-openapi";
import { channelLogView, pairedUserView, pairingCodeView } from "../../contract/channel";
import { listView } from "../../contract/page";
import { readPrincipal } from "../auth";
import { callWithRetry } from "../calls";
import type { HttpDeps, HttpEnv } from "../deps";
import { channelLogExample, pairedUserExample, pairingCodeExample } from "../examples/channels";
import { onePage } from "../examples/shared";
import { sendProblem } from "../problem";
import { readAct } from "../read-act";
import { json, tenantRoute } from "../routing";
import { counter, limitQuery, namedPageQuery, takeListPage, toList } from "../schemas/page";
import { channelParams } from "./channels";

const tag = "channels";

const makeCode = tenantRoute({
  method: "post",
  path: "/v1/channels/{channel_name}/pairing-codes",
  tag,
  scope: "channels:write",
  operationId: "createPairingCode",
  summary: "Make a pairing code",
  description:
    "Makes a code for one person, who sends it to the bot within an hour and may talk to it from then on. The channel's `access.mode` must be `pairing`. The code is shown this once.",
  refuses: ["channel_not_found", "pairing_off", "pairing_code_limit"],
  request: { params: channelParams },
  responses: { 201: json("The code", pairingCodeView, pairingCodeExample) },
});

const listUsers = tenantRoute({
  method: "get",
  path: "/v1/channels/{channel_name}/users",
  tag,
  scope: "channels:read",
  operationId: "listPairedUsers",
  summary: "List paired users",
  description: "Lists the people who sent a pairing code. Those that the channel's `access.users` names are not among them.",
  refuses: ["channel_not_found"],
  request: { params: channelParams, query: namedPageQuery() },
  responses: { 200: json("A page, in order of id", listView(pairedUserView), onePage(pairedUserExample)) },
});

const unpair = tenantRoute({
  method: "delete",
  path: "/v1/channels/{channel_name}/users/{user_id}",
  tag,
  scope: "channels:write",
  operationId: "unpairUser",
  summary: "Unpair a user",
  description: "Within 30 seconds the bot does not answer the person any more. Their sessions stay.",
  refuses: ["channel_not_found", "paired_user_not_found"],
  request: {
    params: channelParams.extend({ user_id: z.string().openapi({ example: "4711", description: "The platform's id of the person" }) }),
  },
  responses: { 204: { description: "Unpaired" } },
});

const readLog = tenantRoute({
  method: "get",
  path: "/v1/channels/{channel_name}/log",
  tag,
  scope: "channels:read",
  operationId: "listChannelLog",
  summary: "Read a channel's log",
  description:
    "Lists why the bot did not answer: replies and attachments that failed, deliveries that were ignored, signatures that were refused. At most 1,000 entries and 30 days are kept. It holds ids, never messages.",
  refuses: ["channel_not_found"],
  request: {
    params: channelParams,
    query: z.strictObject({
      ...limitQuery,
      after: counter.optional().openapi({ description: "next_cursor of the page before" }),
      order: z.enum(["asc", "desc"]).default("desc").openapi({ description: "desc: the newest first" }),
    }),
  },
  responses: { 200: json("A page of the log", listView(channelLogView), onePage(channelLogExample)) },
});

export function registerChannelUsers(app: OpenAPIHono<HttpEnv>, deps: HttpDeps): void {
  app.openapi(makeCode, async (c) => {
    const { channel_name: channel } = c.req.valid("param");
    const { tenant } = readPrincipal(c);
    const { code, hash } = await deps.channels.makePairingCode(tenant, channel);
    // A repeated call would find the code of the first one, whose answer was lost.
    const made = await deps.tenants(tenant).addPairingCode(readAct(c), { channel, hash });
    return made.ok ? c.json({ code, expires_at: made.value.expires_at }, 201) : sendProblem(c, made.error);
  });

  app.openapi(listUsers, async (c) => {
    const found = await callWithRetry(
      () => deps.tenants(readPrincipal(c).tenant),
      (api) => api.listPairedUsers(c.req.valid("param").channel_name),
    );
    return found.ok
      ? c.json(
          takeListPage(found.value, c.req.valid("query"), ({ user_id }) => user_id),
          200,
        )
      : sendProblem(c, found.error);
  });

  app.openapi(unpair, async (c) => {
    const { channel_name: channel, user_id: user } = c.req.valid("param");
    const removed = await deps.tenants(readPrincipal(c).tenant).unpairUser(readAct(c), { channel, user });
    return removed.ok ? c.body(null, 204) : sendProblem(c, removed.error);
  });

  app.openapi(readLog, async (c) => {
    const { after, ...query } = c.req.valid("query");
    const found = await callWithRetry(
      () => deps.tenants(readPrincipal(c).tenant),
      (api) => api.listChannelLog(c.req.valid("param").channel_name, { ...query, after: after ?? null }),
    );
    if (!found.ok) return sendProblem(c, found.error);
    const { data, ...page } = toList(found.value, ({ seq }) => seq);
    return c.json({ ...page, data: data.map(({ seq: _, ...entry }) => entry) }, 200);
  });
}
