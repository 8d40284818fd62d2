/**
 * Receives the webhooks of chat platforms. No key opens them: a channel's signature does. What happened is stored before the platform is
 * answered, and what cannot be stored is answered 503, so that the platform delivers again. The turn comes afterwards, so that no failure of a
 * model is an answer to a platform.
 */
import type { OpenAPIHono } from "@hono/zod-openapi";
import type { Context } from "hono";
import type { ContentfulStatusCode, StatusCode } from "hono/utils/http-status";
import type { ChannelAdapter, Delivery, DeliveryAnswer, ParsedWebhook, WebhookRequest } from "../app/channels/channel";
import { type OpenChannel, toConversationKey } from "../app/channels/chat-api";
import type { TenantId } from "../domain/ids";
import { readInTime } from "../lib/bounded-body";
import { toErrorName } from "../lib/error-name";
import { BODY_LIMIT, TOO_SLOW } from "./body";
import { callWithRetry } from "./calls";
import type { HttpDeps, HttpEnv } from "./deps";
import { refuseChannelFlood, refuseFlood } from "./floods";
import { sendProblem } from "./problem";
import { channelName } from "./schemas/channel";

/** Slack and Discord wait for three seconds. */
const STORED_WITHIN_MS = 2_500;

const PATH = "/webhooks/:tenant/:channel";

export function registerChannelWebhooks(app: OpenAPIHono<HttpEnv>, deps: HttpDeps): void {
  app.on(["GET", "POST"], PATH, (c) => answerWebhook(c, deps));
}

interface Found {
  readonly tenant: TenantId;
  readonly name: string;
  readonly channel: OpenChannel;
  readonly adapter: ChannelAdapter<unknown>;
}

/** Null: there is no such channel, or its secrets cannot be opened. */
async function findChannel(c: Context<HttpEnv>, { channels }: HttpDeps): Promise<Found | null> {
  const tenant = await channels.readWebhookTenant(c.req.param("tenant") ?? "");
  const name = channelName.safeParse(c.req.param("channel"));
  const channel = tenant && name.success ? await channels.find({ tenant, name: name.data }) : null;
  return tenant && name.success && channel
    ? { tenant, name: name.data, channel, adapter: channels.findAdapter(channel.settings.type) }
    : null;
}

/** Takes as long as a comparison of a signature does, so that the time does not tell whether there is such a channel. */
async function spendAlike(body: Uint8Array<ArrayBuffer>): Promise<void> {
  const key = await crypto.subtle.importKey("raw", new Uint8Array(32), { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  await crypto.subtle.sign("HMAC", key, body);
}

async function answerWebhook(c: Context<HttpEnv>, deps: HttpDeps): Promise<Response> {
  const body = await readInTime(c.req.raw.body, BODY_LIMIT);
  if (!body.ok) return sendProblem(c, body.error === "too_slow" ? TOO_SLOW : { code: "body_too_large", limit: BODY_LIMIT });
  const request: WebhookRequest = {
    method: c.req.method === "GET" ? "GET" : "POST",
    url: new URL(c.req.url),
    headers: c.req.raw.headers,
    body: new Uint8Array(body.value),
  };
  const found = await findChannel(c, deps);
  const verification = await (found
    ? found.adapter.verify(request, found.channel.credentials, deps.now())
    : spendAlike(request.body).then(() => "wrong" as const));
  if (!found || verification !== "verified") {
    if (found) deps.channels.count({ tenant: found.tenant, channel: found.name, kind: "signature_refused", reason: verification });
    return sendProblem(c, (await refuseFlood(c, deps, null)) ?? { code: "webhook_refused" });
  }
  const flood = await refuseChannelFlood(deps, `${found.tenant}/${found.name}`);
  return flood
    ? sendProblem(c, flood)
    : answerVerified(c, deps, { ...found, parsed: found.adapter.parse(request, found.channel.credentials) });
}

interface Verified extends Found {
  readonly parsed: ParsedWebhook;
}

async function answerVerified(c: Context<HttpEnv>, deps: HttpDeps, verified: Verified): Promise<Response> {
  const { parsed, tenant, name: channel } = verified;
  const count = (kind: "delivery_ignored" | "delivery_malformed", reason: string) => deps.channels.count({ tenant, channel, kind, reason });
  switch (parsed.kind) {
    case "handshake":
      return send(c, parsed.answer);
    case "ignored":
      count("delivery_ignored", parsed.reason);
      return send(c, parsed.answer);
    case "malformed": {
      const [field = "body", ...detail] = parsed.detail.split(": ");
      count("delivery_malformed", parsed.detail);
      return sendProblem(c, { code: "invalid_request", errors: [{ field, detail: detail.join(": ") || "is not valid" }] });
    }
    case "deliveries":
      if (await deps.channels.isSuspended(tenant)) {
        count("delivery_ignored", "the tenant is suspended");
        return c.body(null, 200);
      }
      return (await storeInTime(deps, verified, parsed.deliveries)) ? send(c, parsed.answer) : sendProblem(c, { code: "unavailable" });
  }
}

function send(c: Context<HttpEnv>, { status, json, text }: DeliveryAnswer): Response {
  if (json !== undefined) return c.json(json, status as ContentfulStatusCode);
  return text === undefined ? c.body(null, status as StatusCode) : c.text(text, status as ContentfulStatusCode);
}

/** The deliveries of each conversation, in their order. */
function groupByConversation({ channel }: Found, deliveries: readonly Delivery[]): ReadonlyMap<string, readonly Delivery[]> {
  const groups = new Map<string, Delivery[]>();
  for (const delivery of deliveries) {
    const key = toConversationKey(channel.settings, delivery.place, delivery.user);
    groups.set(key, [...(groups.get(key) ?? []), delivery]);
  }
  return groups;
}

/** False: not everything is stored. What is stored already is known when the platform delivers again. */
async function storeInTime(deps: HttpDeps, found: Found, deliveries: readonly Delivery[]): Promise<boolean> {
  const { tenant, name: channel } = found;
  const calls = [...groupByConversation(found, deliveries)].map(([conversation, each]) => {
    const address = { tenant, channel, conversation };
    return callWithRetry(
      () => deps.channels.chats(address),
      (chat) => chat.receive(address, each),
    );
  });
  const stored = Promise.all(calls).then(
    () => true,
    (error: unknown) => {
      deps.log.warn("webhook.not_stored", { tenant_id: tenant, channel, error: toErrorName(error) });
      return false;
    },
  );
  let stop = (): void => undefined;
  const late = new Promise<false>((resolve) => {
    stop = deps.schedule(STORED_WITHIN_MS, () => resolve(false));
  });
  return Promise.race([stored, late]).finally(() => stop());
}
