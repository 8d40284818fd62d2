/** The calls about webhooks that a tenant's object answers. */

import { type Act, toAuditSubject } from "../app/audit-chain";
import { refuseUnmet } from "../app/conditions";
import { deriveId } from "../app/derived-id";
import type { TenantError, TenantOutcome } from "../app/tenant-api";
import { type TenantWebhooksApi, toEndpointEtag } from "../app/webhook-api";
import type { WebhookEndpoint } from "../contract/webhook";
import type { SessionId, WebhookEndpointId } from "../domain/ids";
import { err, ok, type Result } from "../lib/result";
import type { Tenant } from "./core/tenant";
import { type Calls, type Existing, existing, served } from "./existing-tenant";

/** The names of the fields that a request named. */
const listNames = (input: object): readonly string[] =>
  Object.entries(input).flatMap(([name, value]) => (value === undefined ? [] : [name]));

const isErased = ({ upkeep, directory }: Tenant, session: SessionId): boolean =>
  upkeep.erasures.receipts.findCovering(session) !== null || !directory.has(session);

/** An id follows from the session, the seq and the type: an announcement that is repeated is the same event. */
const announce: Existing<"announce"> = async (tenant, session, announcements) => {
  const { tenant: id } = tenant.settings.identity();
  const events = await Promise.all(announcements.map(({ seq, type }) => deriveId("evt", [id, session, seq, type].join("\n"))));
  const { webhooks } = tenant.upkeep;
  // What is erased is announced by its erasure alone.
  if (isErased(tenant, session)) return ok(null);
  tenant.transaction(() => webhooks.addOfSession(session, announcements, events));
  webhooks.start();
  // Set before the answer: the session forgets what it told.
  await webhooks.resume();
  return ok(null);
};

const toSubject = (action: "created" | "changed" | "secret_rotated" | "deleted" | "tested", id: string, fields: readonly string[] = []) =>
  toAuditSubject(`webhook_endpoint.${action}`, "webhook_endpoint", { id, ...(fields.length > 0 && { fields }) });

const create: Existing<"createWebhookEndpoint"> = (tenant, act, endpoint) => {
  const { endpoints } = tenant.upkeep.webhooks;
  // A repeated request returns the endpoint that the first one made.
  const describe = ({ id }: WebhookEndpoint) => (id === endpoint.id ? toSubject("created", id) : null);
  return tenant.announce(tenant.transaction(tenant.audited({ act, describe }, () => endpoints.add(endpoint, Date.now()))));
};

/** Changes an endpoint in one transaction with the comparison of etags. */
function changeEndpoint<T>(
  tenant: Tenant,
  { id, condition }: { readonly id: WebhookEndpointId; readonly condition?: Parameters<typeof refuseUnmet>[0] },
  change: (found: WebhookEndpoint) => TenantOutcome<T>,
): TenantOutcome<T> {
  const { endpoints } = tenant.upkeep.webhooks;
  return tenant.announce(
    tenant.transaction(() => {
      const found = endpoints.find(id);
      if (!found.ok) return found;
      return refuseUnmet(condition, toEndpointEtag(found.value)) ?? change(found.value);
    }),
  );
}

const change: Existing<"changeWebhookEndpoint"> = async (tenant, act, id, { changes, condition }) => {
  const { webhooks } = tenant.upkeep;
  const describe = () => toSubject("changed", id, listNames(changes));
  const changed = changeEndpoint(tenant, { id, condition }, () =>
    tenant.audited({ act, describe }, () => {
      if (changes.enabled === false) webhooks.disable(id, "requested");
      return webhooks.endpoints.change(id, changes, Date.now());
    })(),
  );
  // The alarm goes on with much that waits.
  if (changed.ok && changes.enabled === false) await webhooks.resume();
  return changed;
};

const remove: Existing<"deleteWebhookEndpoint"> = async (tenant, act, id, condition) => {
  const { webhooks } = tenant.upkeep;
  const describe = () => toSubject("deleted", id);
  const removed = changeEndpoint(tenant, { id, condition }, () =>
    tenant.audited({ act, describe }, () => {
      webhooks.forget(id);
      return webhooks.endpoints.remove(id);
    })(),
  );
  if (removed.ok) await webhooks.resume();
  return removed;
};

const rotate: Existing<"rotateWebhookSecret"> = (tenant, act, id, rotation) => {
  const describe = () => toSubject("secret_rotated", id);
  const rotateNow = () => tenant.upkeep.webhooks.endpoints.rotate(id, rotation, Date.now());
  return tenant.transaction(tenant.audited({ act, describe }, rotateNow));
};

/** Adds work for an endpoint that is enabled, and begins it. */
async function begin<T>(tenant: Tenant, id: WebhookEndpointId, add: () => Result<T, TenantError>): Promise<TenantOutcome<T>> {
  const { webhooks } = tenant.upkeep;
  const done = tenant.transaction(() => {
    const found = webhooks.endpoints.find(id);
    if (!found.ok) return found;
    return found.value.status === "enabled" ? add() : err({ code: "webhook_endpoint_disabled" as const, endpoint: id });
  });
  if (!done.ok) return done;
  webhooks.start();
  await webhooks.resume();
  return done;
}

const test: Existing<"testWebhookEndpoint"> = (tenant, act, id) => {
  const { webhooks } = tenant.upkeep;
  return begin(
    tenant,
    id,
    tenant.audited({ act, describe: () => toSubject("tested", id) }, () => {
      const delivery = webhooks.addTest(id);
      return delivery === null ? err({ code: "webhook_endpoint_not_found", endpoint: id }) : webhooks.deliveries.find(id, delivery);
    }),
  );
};

const toReplaySubject = (id: WebhookEndpointId, number: number) =>
  toAuditSubject("webhook_deliveries.replayed", "webhook_endpoint", { id, number });

const replayOne: Existing<"replayWebhookDelivery"> = (tenant, act, id, delivery) =>
  begin(
    tenant,
    id,
    tenant.audited({ act, describe: () => toReplaySubject(id, 1) }, () =>
      tenant.upkeep.webhooks.deliveries.replay(id, delivery, Date.now()),
    ),
  );

const replaySince = (tenant: Tenant, act: Act, { id, since }: { readonly id: WebhookEndpointId; readonly since: number }) =>
  begin(
    tenant,
    id,
    tenant.audited({ act, describe: ({ replayed }) => (replayed === 0 ? null : toReplaySubject(id, replayed)) }, () =>
      ok(tenant.upkeep.webhooks.deliveries.replayFailed(id, since, Date.now())),
    ),
  );

/** Reads of an endpoint's log, if there is such an endpoint. */
const ofEndpoint = <T>({ upkeep }: Tenant, id: WebhookEndpointId, read: () => TenantOutcome<T>): TenantOutcome<T> => {
  const found = upkeep.webhooks.endpoints.find(id);
  return found.ok ? read() : found;
};

export const webhookCalls = {
  announce: existing(announce),
  createWebhookEndpoint: served(create),
  listWebhookEndpoints: served(({ upkeep }) => ok(upkeep.webhooks.endpoints.list())),
  getWebhookEndpoint: served(({ upkeep }, id) => upkeep.webhooks.endpoints.find(id)),
  changeWebhookEndpoint: served(change),
  deleteWebhookEndpoint: served(remove),
  rotateWebhookSecret: served(rotate),
  testWebhookEndpoint: served(test),
  listWebhookDeliveries: served((tenant, id, page) => ofEndpoint(tenant, id, () => ok(tenant.upkeep.webhooks.deliveries.list(id, page)))),
  getWebhookDelivery: served((tenant, id, delivery) => ofEndpoint(tenant, id, () => tenant.upkeep.webhooks.deliveries.find(id, delivery))),
  replayWebhookDelivery: served(replayOne),
  replayWebhookDeliveries: served((tenant, act, id, since) => replaySince(tenant, act, { id, since })),
} satisfies Pick<Calls, keyof TenantWebhooksApi>;
