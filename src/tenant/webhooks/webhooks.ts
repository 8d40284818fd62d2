/**
 * Sends the events of a tenant and its sessions to the tenant's endpoints: the outbox' rows, several at once, driven by the object's alarm. A
 * row is noted as tried when its answer has come, so that an object that dies meanwhile tries again under the same event id.
 */

import { toAuditSubject } from "../../app/audit-chain";
import type { OutcomeStore } from "../../app/idempotency";
import type { Background, Clock, Log } from "../../app/ports";
import type { Announcement } from "../../app/to-announcements";
import { type SendWebhook, toSecretPlace } from "../../app/webhook-api";
import type { AuditLog } from "../../audit/audit-log";
import type { NewTenantEvent } from "../../contract/tenant-event";
import type { WebhookAttempt } from "../../contract/webhook";
import type { NewId, SessionId, WebhookDeliveryId, WebhookEndpointId, WebhookEventId } from "../../domain/ids";
import { type DisabledReason, TEST_EVENT } from "../../domain/webhook-events";
import { toErrorName } from "../../lib/error-name";
import type { SyncSql } from "../../lib/sync-sql";
import { armAlarm, type TenantAlarm } from "../shared/tenant-alarm";
import type { TenantEvents } from "../shared/tenant-events";
import {
  createDeliveries,
  type Deliveries,
  type DueDelivery,
  MAX_WAITING,
  toSessionData,
  toTenantData,
  type WebhookMessage,
} from "./deliveries";
import { createEndpoints, type Endpoints, type Target } from "./endpoints";
import { createFlights, QUICK_MS } from "./flights";
import { FAILING_MS, toNextWait } from "./schedule";

const isQuickAnswer = ({ failure, ms }: Pick<WebhookAttempt, "failure" | "ms">): boolean => failure === null && ms <= QUICK_MS;

/** Longer than any try takes. */
const LEASE_MS = 60_000;
/** Tries that one event of the object begins. The platform allows 1,000 calls an invocation, and each try may also resolve a name. */
const TRIES_A_RUN = 200;
/** How often a suspended tenant is looked at. */
const LOOK_AGAIN_MS = 60 * 60 * 1_000;
/** Tries between two prunings, and additions before the first look at how much waits. */
const LOOK_EVERY = 100;
/** Additions between two looks, at least: a look reads what waits. */
const LOOKED_AT_AGAIN = 1_000;
/** Half of what an object holds. Less room is left for the tenant's other rows then. */
const SHORT_OF_ROOM_BYTES = 5_000_000_000;

interface WebhookDeps {
  readonly sql: SyncSql;
  readonly requests: OutcomeStore<string>;
  readonly newId: NewId;
  readonly send: SendWebhook;
  readonly audit: Pick<AuditLog, "append">;
  readonly events: Pick<TenantEvents, "append">;
  /** Called inside a transaction that deletes a delivery. */
  readonly noteScrub: () => void;
  readonly isDeleted: () => boolean;
  readonly isSuspended: () => boolean;
  readonly background: Background;
  readonly alarm: TenantAlarm;
  readonly now: Clock;
  readonly random: () => number;
  readonly log: Log;
}

export interface Webhooks {
  readonly endpoints: Endpoints;
  readonly deliveries: Deliveries;
  /** Keeps announcements of a session for those who want them. `events`: their ids, in the same order. Call it inside a transaction. */
  addOfSession(session: SessionId, announcements: readonly Announcement[], events: readonly WebhookEventId[]): void;
  /** Keeps an event of the tenant for those who want it. Called in the transaction of the event. */
  addOfTenant(event: NewTenantEvent, seq: number): void;
  /** Call it inside a transaction. */
  addTest(endpoint: WebhookEndpointId): WebhookDeliveryId | null;
  /** Disables an endpoint and ends what waits for it, of much the first part. Call it inside a transaction. */
  disable(endpoint: WebhookEndpointId, reason: DisabledReason): void;
  /** Forgets the deliveries of an endpoint that is deleted, of many the first part. Call it inside a transaction. */
  forget(endpoint: WebhookEndpointId): void;
  /** Begins what is due, as far as there is room. It waits for nothing. */
  start(): void;
  nextDue(): number | null;
  resume(): Promise<void>;
  /** For the alarm. */
  run(): Promise<void>;
}

export function createWebhooks(deps: WebhookDeps): Webhooks {
  const { sql, alarm, now, log, newId } = deps;
  const endpoints = createEndpoints(sql, deps.requests);
  const deliveries = createDeliveries(sql, deps);
  const flights = createFlights();
  let left = 0;
  let tried = 0;
  /** How many more additions come before it is looked at how much waits for an endpoint. */
  const unlooked = new Map<WebhookEndpointId, number>();
  /** An endpoint that is deleted may have deliveries. A new life of the object looks. */
  let hasLeft = true;

  function add(endpoint: WebhookEndpointId, message: WebhookMessage): WebhookDeliveryId | null {
    const id = deliveries.add(endpoint, message, now());
    const more = (unlooked.get(endpoint) ?? LOOK_EVERY) - 1;
    unlooked.set(endpoint, more > 0 ? more : lookAtBacklog(endpoint));
    return id;
  }

  /** What waits for an endpoint that answers 2xx waits because of the pace here, which is not its fault. Returns after how many additions to look again. */
  function lookAtBacklog(endpoint: WebhookEndpointId): number {
    const waiting = deliveries.countWaiting(endpoint);
    const isToBlame = (endpoints.findTarget(endpoint, now())?.failing_since ?? null) !== null;
    if (waiting > MAX_WAITING && (isToBlame || sql.usedBytes() > SHORT_OF_ROOM_BYTES)) disable(endpoint, "backlog");
    return Math.max(LOOKED_AT_AGAIN, MAX_WAITING - waiting);
  }

  function disable(endpoint: WebhookEndpointId, reason: DisabledReason): void {
    const at = now();
    if (!endpoints.disable(endpoint, reason, at)) return;
    deliveries.stop(endpoint, "endpoint_disabled", at);
    if (reason === "requested") return;
    deps.audit.append(
      { actor: { kind: "system", id: null }, request_id: null },
      toAuditSubject("webhook_endpoint.disabled", "webhook_endpoint", { id: endpoint }),
    );
    deps.events.append({ at, type: "webhook_endpoint.disabled", data: { id: endpoint, reason } });
  }

  const listDisabled = () => endpoints.list().filter(({ status }) => status === "disabled");
  function forget(endpoint: string): void {
    hasLeft = true;
    if (deliveries.forgetEndpoint(endpoint)) deps.noteScrub();
  }
  function findLeft(): string | null {
    const known = new Set<string>(endpoints.list().map(({ id }) => id));
    for (let found = deliveries.findEndpoint(""); found !== null; found = deliveries.findEndpoint(found))
      if (!known.has(found)) return found;
    return null;
  }
  /** The next part of what `disable` and `forget` began. */
  function clear(): void {
    for (const { id } of listDisabled()) if (deliveries.isWaiting(id)) deliveries.stop(id, "endpoint_disabled", now());
    const left = hasLeft ? findLeft() : null;
    if (left) forget(left);
    else hasLeft = false;
  }
  const hasToClear = (): boolean => listDisabled().some(({ id }) => deliveries.isWaiting(id)) || (hasLeft && findLeft() !== null);

  /** What is under way begins the next itself: then the alarm is for an object that dies meanwhile. */
  const findEarliest = (): number => {
    if (deps.isSuspended()) return now() + LOOK_AGAIN_MS;
    return flights.count() > 0 ? now() + LEASE_MS : 0;
  };
  const nextDue = (): number | null => {
    if (!deps.isDeleted() && hasToClear()) return 0;
    const ids = endpoints.list().map(({ id }) => id);
    const due = Math.min(...ids.map((id) => deliveries.nextDue(id) ?? Number.POSITIVE_INFINITY));
    const expiry = Math.min(...ids.map((id) => deliveries.nextExpiry(id) ?? Number.POSITIVE_INFINITY));
    if (!Number.isFinite(Math.min(due, expiry)) || deps.isDeleted()) return null;
    return Math.min(expiry, Math.max(due, findEarliest()));
  };
  const resume = (): Promise<void> => armAlarm(alarm, nextDue(), now);

  /** Begins tries while an endpoint has one that is due, and room for it. */
  function fill(): void {
    if (deps.isDeleted() || deps.isSuspended()) return;
    while (left > 0 && flights.order(endpoints.listEnabled()).some(beginOne));
  }
  function beginOne(endpoint: ReturnType<Endpoints["listEnabled"]>[number]): boolean {
    const [due] = deliveries.listDue(endpoint.id, now(), flights.count() + 1).filter(({ id }) => !flights.has(id));
    const target = due && endpoints.findTarget(endpoint.id, now());
    if (!due || !target) return false;
    left -= 1;
    deliveries.lease(due.id, now() + LEASE_MS);
    flights.begin(due.id, endpoint);
    const failed = (error: unknown): void => log.error("tenant.webhook_not_noted", { delivery: due.id, error: toErrorName(error) });
    deps.background(attempt(due, target).catch(failed).then(goOn).catch(failed));
    return true;
  }

  async function attempt(due: DueDelivery, { id, ...target }: Target): Promise<void> {
    const at = now();
    try {
      if (flights.count() === 1) await resume();
      const { url, secrets } = target;
      const answer = await deps.send({ url, event: due.event, body: due.body, secrets, place: toSecretPlace(id) });
      const tried = { at, ms: now() - at, ...answer };
      flights.pace(id, isQuickAnswer(tried));
      sql.transaction(() => settle(due, { id, ...target }, tried));
    } finally {
      flights.end(due.id);
    }
  }

  async function goOn(): Promise<void> {
    fill();
    if (flights.count() === 0) await resume();
  }

  function settle(due: DueDelivery, target: Target, answer: WebhookAttempt): void {
    const at = now();
    const isLast = answer.failure === null || answer.status === 410 || due.isTest;
    const wait = isLast ? null : toNextWait(due.step, deps.random());
    const isNoted = deliveries.note(due.id, answer, { due: wait === null ? null : at + wait, at });
    if (isNoted && answer.failure !== "secret_unavailable") judge(target, answer);
    tried += 1;
    if (tried % LOOK_EVERY === 0) deliveries.prune(target.id, at);
  }

  /** What the answer says of the endpoint. Another address is not blamed for this one. */
  function judge({ id, url, failing_since: since }: Target, { failure, status, ms }: WebhookAttempt): void {
    const at = now();
    if (endpoints.findTarget(id, at)?.url !== url) return;
    endpoints.noteAnswer(id, { failed: failure === null ? null : at, isQuick: isQuickAnswer({ failure, ms }) });
    if (status === 410) disable(id, "gone");
    else if (failure !== null && since !== null && at - since >= FAILING_MS) disable(id, "failing");
  }

  const start = (): void => {
    left = TRIES_A_RUN;
    fill();
  };
  return {
    endpoints,
    deliveries,
    disable,
    forget,
    start,
    nextDue,
    resume,
    addOfSession: (session, announcements, events) => {
      for (const [index, announcement] of announcements.entries()) {
        const event = events[index];
        if (!event) throw new TypeError("each announcement has an id");
        const { type, at, seq } = announcement;
        const message = { event, type, at, session, data: toSessionData(session, announcement) };
        // A session hands over in order. An event older than one that the endpoint has is from a late call of an object that has died: the
        // session has handed it over since, or no endpoint wanted it then.
        for (const endpoint of endpoints.listFor(type))
          if (seq >= (deliveries.findNewestSeq(endpoint, session) ?? 0)) add(endpoint, message);
      }
    },
    addOfTenant: (event, seq) => {
      const wanting = endpoints.listFor(event.type);
      const { type, at } = event;
      const message = { event: newId("evt"), type, at, session: null, data: toTenantData(event, seq) };
      for (const endpoint of wanting) add(endpoint, message);
      if (wanting.length === 0) return;
      // The alarm is set in the transaction of the event. It may be ringing for something else, which takes a while.
      alarm.set(now());
      const failed = (error: unknown): void => log.error("tenant.webhooks_not_started", { error: toErrorName(error) });
      deps.background(Promise.resolve().then(start).catch(failed));
    },
    addTest: (endpoint) => add(endpoint, { event: newId("evt"), type: TEST_EVENT, at: now(), session: null, data: { id: endpoint } }),
    run: async () => {
      for (const { id } of endpoints.list()) sql.transaction(() => deliveries.prune(id, now()));
      if (!deps.isDeleted()) sql.transaction(clear);
      start();
      await resume();
    },
  };
}
