/** The rows of webhooks' deliveries: the outbox of the tenant's object, and its log. */

import type { TenantError } from "../../app/tenant-api";
import type { Announcement } from "../../app/to-announcements";
import type { DeliveryPage } from "../../app/webhook-api";
import type { Page } from "../../contract/page";
import type { NewTenantEvent } from "../../contract/tenant-event";
import type { WebhookAttempt, WebhookDelivery, WebhookDeliveryDetail, WebhookReplay } from "../../contract/webhook";
import { parseId, type SessionId, type WebhookDeliveryId, type WebhookEndpointId, type WebhookEventId } from "../../domain/ids";
import { DELIVERY_STATES, type DeliveryFailure, TEST_EVENT, WEBHOOK_EVENT_TYPES } from "../../domain/webhook-events";
import { err, ok, type Result } from "../../lib/result";
import type { SyncSql } from "../../lib/sync-sql";

/** Deliveries are kept for so long after they were made, and the newest so many of each endpoint. What is still to be tried is always kept. */
export const KEPT_MS = 30 * 24 * 60 * 60 * 1_000;
const KEPT_DELIVERIES = 10_000;
/** More than these wait for no endpoint that fails, nor for any while the object's room is short. */
export const MAX_WAITING = 100_000;
/** Rows that one pruning removes at most. */
const PRUNED = 200;
/** Rows that one step ends or forgets of an endpoint that is disabled or deleted. */
const A_PART = 1_000;
/** Tries that a delivery's log keeps. */
const KEPT_TRIES = 10;
/** Deliveries that one request replays. */
const REPLAYED = 1_000;

type Row = {
  readonly n: number;
  readonly id: string;
  readonly endpoint: string;
  readonly event: string;
  readonly type: string;
  readonly session: string;
  readonly body: string;
  readonly state: string;
  readonly tries: number;
  readonly step: number;
  readonly due_at: number | null;
  readonly created_at: number;
  readonly finished_at: number | null;
  readonly log: string;
};

/** What one try needs. `step`: which try of the schedule it is, from 1. */
export interface DueDelivery {
  readonly id: WebhookDeliveryId;
  readonly endpoint: string;
  readonly event: string;
  readonly body: string;
  readonly step: number;
  readonly isTest: boolean;
}

export interface WebhookMessage {
  readonly event: WebhookEventId;
  readonly type: string;
  readonly at: number;
  readonly session: SessionId | null;
  readonly data: object;
}

const asId = <P extends "dlv" | "evt" | "whk">(prefix: P, text: string) => {
  const id = parseId(prefix, text);
  if (!id) throw new Error("A stored id is malformed");
  return id;
};
const TYPES: readonly WebhookDelivery["type"][] = [...WEBHOOK_EVENT_TYPES, TEST_EVENT];
const toType = (text: string): WebhookDelivery["type"] => {
  const type = TYPES.find((known) => known === text);
  if (!type) throw new Error("A stored delivery is of an unknown type");
  return type;
};
const toState = (text: string): WebhookDelivery["state"] => {
  const state = DELIVERY_STATES.find((known) => known === text);
  if (!state) throw new Error("A stored delivery has an unknown state");
  return state;
};
/** The text is this file's own. */
const parseLog = ({ log }: Row): readonly WebhookAttempt[] => JSON.parse(log);

function toView(row: Row): WebhookDelivery {
  const last = parseLog(row).at(-1);
  return {
    id: asId("dlv", row.id),
    endpoint_id: asId("whk", row.endpoint),
    event_id: asId("evt", row.event),
    type: toType(row.type),
    session_id: parseId("ses", row.session),
    state: toState(row.state),
    attempts: row.tries,
    next_attempt_at: row.due_at,
    last_status: last?.status ?? null,
    last_failure: last?.failure ?? null,
    created_at: row.created_at,
    finished_at: row.finished_at,
  };
}

/** The body of the requests: Standard Webhooks' fields, and those that OpenAI's client expects. */
function buildBody({ event, type, at, data }: WebhookMessage): string {
  const created_at = Math.floor(at / 1_000);
  return JSON.stringify({ id: event, object: "event", type, created_at, timestamp: new Date(at).toISOString(), data });
}

/** What the body of a session's announcement says: `seq` orders all that a receiver has of the session. */
export const toSessionData = (session: SessionId, { seq, data }: Announcement): object => ({ ...data, session_id: session, seq });

/** Budgets have names in place of ids. */
export const toTenantData = ({ data }: NewTenantEvent, seq: number): object => ({
  id: "budget" in data ? data.budget : data.id,
  ...data,
  seq,
});

const PENDING = "state = 'pending'";

/** Methods that change rows are called inside a transaction. */
export type Deliveries = ReturnType<typeof createDeliveries>;

interface Ids {
  readonly newId: (prefix: "dlv") => WebhookDeliveryId;
}

export function createDeliveries(sql: SyncSql, { newId }: Ids) {
  /** Counts no further than `most`. */
  const countUpTo = (most: number, where: string, ...params: (string | number)[]): number =>
    sql.rows<{ n: number }>(`SELECT count(*) AS n FROM (SELECT 1 FROM webhook_deliveries WHERE ${where} LIMIT ${most})`, ...params)[0]?.n ??
    0;
  const findRow = (endpoint: string, id: string): Row | null =>
    sql.rows<Row>("SELECT * FROM webhook_deliveries WHERE endpoint = ? AND id = ?", endpoint, id)[0] ?? null;
  const missing = (delivery: string): Result<never, TenantError> => err({ code: "webhook_delivery_not_found", delivery });

  /** Stores a message for an endpoint, once. Returns its delivery's id; null: it was stored before. */
  function add(endpoint: WebhookEndpointId, message: WebhookMessage, at: number): WebhookDeliveryId | null {
    const id = newId("dlv");
    const session = message.session ?? "";
    const columns = "id, endpoint, event, type, session, body, state, tries, step, due_at, created_at, log";
    const added = sql.rows(
      `INSERT INTO webhook_deliveries (${columns}) VALUES (?, ?, ?, ?, ?, ?, 'pending', 0, 0, ?, ?, '[]')
       ON CONFLICT (endpoint, event) DO NOTHING RETURNING n`,
      id,
      endpoint,
      message.event,
      message.type,
      session,
      buildBody(message),
      message.type !== TEST_EVENT && findUntried(endpoint, session) !== null ? null : at,
      at,
    );
    return added.length > 0 ? id : null;
  }
  /** The oldest delivery of the session that was not tried yet. */
  const findUntried = (endpoint: string, session: string): number | null =>
    sql.rows<{ n: number }>(
      `SELECT n FROM webhook_deliveries WHERE endpoint = ? AND session = ? AND ${PENDING} AND tries = 0 AND type <> '${TEST_EVENT}' ORDER BY n LIMIT 1`,
      endpoint,
      session,
    )[0]?.n ?? null;
  /** Lets the next first try of the session go. */
  function release(endpoint: string, session: string, at: number): void {
    const next = findUntried(endpoint, session);
    if (next !== null) sql.rows("UPDATE webhook_deliveries SET due_at = coalesce(due_at, ?) WHERE n = ?", at, next);
  }
  /** When the oldest delivery that is not tried any more was made. */
  const findOldestEnded = (endpoint: string): number | null =>
    sql.rows<{ at: number }>(
      "SELECT created_at AS at FROM webhook_deliveries WHERE endpoint = ? AND state <> 'pending' ORDER BY n LIMIT 1",
      endpoint,
    )[0]?.at ?? null;
  const removeRows = (where: string, ...params: (string | number)[]): number =>
    sql.rows(`DELETE FROM webhook_deliveries WHERE n IN (SELECT n FROM webhook_deliveries WHERE ${where}) RETURNING n`, ...params).length;

  return {
    add,
    /** The `seq` of the session's newest event that is kept for the endpoint. Null: there is none. */
    findNewestSeq: (endpoint: string, session: SessionId): number | null =>
      sql.rows<{ seq: number }>(
        "SELECT json_extract(body, '$.data.seq') AS seq FROM webhook_deliveries WHERE endpoint = ? AND session = ? ORDER BY n DESC LIMIT 1",
        endpoint,
        session,
      )[0]?.seq ?? null,
    /** No further than one more than may wait. */
    countWaiting: (endpoint: string): number => countUpTo(MAX_WAITING + 1, `endpoint = ? AND ${PENDING}`, endpoint),
    find: (endpoint: string, id: WebhookDeliveryId): Result<WebhookDeliveryDetail, TenantError> => {
      const row = findRow(endpoint, id);
      return row ? ok({ ...toView(row), body: row.body, log: parseLog(row) }) : missing(id);
    },
    /** The newest first. */
    list: (endpoint: string, { after, limit, state }: DeliveryPage): Page<WebhookDelivery> => {
      const before = after === null ? null : sql.rows<{ n: number }>("SELECT n FROM webhook_deliveries WHERE id = ?", after)[0]?.n;
      const page = sql.rows<Row>(
        `SELECT * FROM webhook_deliveries WHERE endpoint = ?1 AND n < ?2 AND (?3 IS NULL OR state = ?3) ORDER BY n DESC LIMIT ?4`,
        endpoint,
        before ?? (after === null ? Number.MAX_SAFE_INTEGER : 0),
        state,
        limit + 1,
      );
      return { data: page.slice(0, limit).map(toView), has_more: page.length > limit };
    },
    /**
     * Deliveries of the endpoint that are due. What was not tried yet is due behind the first tries of all that came before it in its session,
     * so that a receiver meets them in order.
     */
    listDue: (endpoint: string, at: number, limit: number): readonly DueDelivery[] =>
      sql
        .rows<Row>(
          `SELECT * FROM webhook_deliveries WHERE endpoint = ? AND ${PENDING} AND due_at <= ? ORDER BY due_at, n LIMIT ?`,
          endpoint,
          at,
          limit,
        )
        .map(({ id, endpoint: to, event, body, step, type }) => ({
          ...{ id: asId("dlv", id), endpoint: to, event, body },
          step: step + 1,
          isTest: type === TEST_EVENT,
        })),
    /** Puts it off while it is tried: should the object die meanwhile, it is tried again then. */
    lease: (id: string, until: number): void => void sql.rows("UPDATE webhook_deliveries SET due_at = ? WHERE id = ?", until, id),
    /** Notes a try. `due`: of the next one. Null: it is the last. Returns false when the delivery is not pending any more. */
    note: (id: string, tried: WebhookAttempt, { due, at }: { readonly due: number | null; readonly at: number }): boolean => {
      const [row] = sql.rows<Row>(`SELECT * FROM webhook_deliveries WHERE id = ? AND ${PENDING}`, id);
      if (!row) return false;
      const state = tried.failure === null ? "delivered" : due === null ? "failed" : "pending";
      sql.rows(
        "UPDATE webhook_deliveries SET state = ?, tries = tries + 1, step = step + 1, due_at = ?, finished_at = ?, log = ? WHERE id = ?",
        state,
        state === "pending" ? due : null,
        state === "pending" ? null : at,
        JSON.stringify([...parseLog(row), tried].slice(-KEPT_TRIES)),
        id,
      );
      release(row.endpoint, row.session, at);
      return true;
    },
    isWaiting: (endpoint: string): boolean =>
      sql.rows(`SELECT 1 FROM webhook_deliveries WHERE endpoint = ? AND ${PENDING} LIMIT 1`, endpoint).length > 0,
    /** Ends a part of what waits for an endpoint that is sent nothing any more. It can be replayed. */
    stop: (endpoint: string, failure: DeliveryFailure, at: number): void => {
      const tried: WebhookAttempt = { at, ms: 0, status: null, failure, answer: null };
      sql.rows(
        `UPDATE webhook_deliveries SET state = 'failed', due_at = NULL, finished_at = ?1, log = json_insert(log, '$[#]', json(?2))
         WHERE n IN (SELECT n FROM webhook_deliveries WHERE endpoint = ?3 AND ${PENDING} LIMIT ${A_PART})`,
        at,
        JSON.stringify(tried),
        endpoint,
      );
    },
    replay: (endpoint: string, id: WebhookDeliveryId, at: number): Result<WebhookDelivery, TenantError> => {
      const row = findRow(endpoint, id);
      if (!row) return missing(id);
      sql.rows("UPDATE webhook_deliveries SET state = 'pending', step = 0, due_at = ?, finished_at = NULL WHERE id = ?", at, id);
      return ok(toView({ ...row, state: "pending", due_at: at, finished_at: null }));
    },
    /** The oldest first, so many at a time. */
    replayFailed: (endpoint: string, since: number, at: number): WebhookReplay => {
      const where = "endpoint = ? AND state = 'failed' AND created_at >= ?";
      const replayed = sql.rows(
        `UPDATE webhook_deliveries SET state = 'pending', step = 0, due_at = ?, finished_at = NULL
         WHERE n IN (SELECT n FROM webhook_deliveries WHERE ${where} ORDER BY n LIMIT ?) RETURNING n`,
        at,
        endpoint,
        since,
        REPLAYED,
      ).length;
      return { replayed, has_more: countUpTo(1, where, endpoint, since) > 0 };
    },
    /** True when there was something. */
    forgetSession: (session: SessionId): boolean => removeRows("session = ?", session) > 0,
    /** Forgets a part of what is of an endpoint. True when there was something. */
    forgetEndpoint: (endpoint: string): boolean => removeRows(`endpoint = ? LIMIT ${A_PART}`, endpoint) > 0,
    /** The first endpoint after `after` that has deliveries. */
    findEndpoint: (after: string): string | null =>
      sql.rows<{ endpoint: string }>("SELECT endpoint FROM webhook_deliveries WHERE endpoint > ? ORDER BY endpoint LIMIT 1", after)[0]
        ?.endpoint ?? null,
    /** Removes what is too old, or too much of an endpoint. Returns true when there is more. */
    prune: (endpoint: string, at: number): boolean => {
      const before = at - KEPT_MS;
      // Rows are in the order of their making: behind one that is young enough there is none that is too old.
      const isOld = (findOldestEnded(endpoint) ?? at) <= before;
      const which = `endpoint = ? AND state <> 'pending' AND created_at <= ? ORDER BY n LIMIT ${PRUNED}`;
      const old = isOld ? removeRows(which, endpoint, before) : 0;
      const many = removeRows(`endpoint = ? AND state <> 'pending' ORDER BY n DESC LIMIT ${PRUNED} OFFSET ${KEPT_DELIVERIES}`, endpoint);
      return old === PRUNED || many === PRUNED;
    },
    /** When the oldest row that is not tried any more is too old. Null: there is none. */
    nextExpiry: (endpoint: string): number | null => {
      const oldest = findOldestEnded(endpoint);
      return oldest === null ? null : oldest + KEPT_MS;
    },
    nextDue: (endpoint: string): number | null =>
      sql.rows<{ due: number | null }>(`SELECT min(due_at) AS due FROM webhook_deliveries WHERE endpoint = ? AND ${PENDING}`, endpoint)[0]
        ?.due ?? null,
  };
}
