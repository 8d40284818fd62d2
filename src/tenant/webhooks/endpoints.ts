/** Stores the endpoints of a tenant's webhooks. Their secrets are sealed: this object has no master key. */
import { type OutcomeStore, runOnce } from "../../app/idempotency";
import type { Resealed, SealedCredential, TenantError } from "../../app/tenant-api";
import { type EndpointChanges, type ExportedEndpoint, type NewEndpoint, type SecretRotation, toSecretPlace } from "../../app/webhook-api";
import type { WebhookEndpoint } from "../../contract/webhook";
import { parseId, type WebhookEndpointId } from "../../domain/ids";
import { DISABLED_REASONS, type DisabledReason, WEBHOOK_EVENT_TYPES, type WebhookEventType } from "../../domain/webhook-events";
import { err, ok, type Result } from "../../lib/result";
import type { SyncSql } from "../../lib/sync-sql";

/** The most endpoints of a tenant. Each event is stored and sent once for each of them. */
const MAX_ENDPOINTS = 20;

/** The most secrets that sign at once. */
const MAX_SECRETS = 4;

/** `until`: when it signs no more. Null: it is the present one. */
interface Secret {
  readonly sealed: SealedCredential;
  readonly until: number | null;
}

type EndpointRow = {
  readonly id: string;
  readonly url: string;
  readonly events: string | null;
  readonly description: string | null;
  readonly metadata: string;
  readonly secrets: string;
  readonly disabled_reason: string | null;
  readonly disabled_at: number | null;
  readonly failing_since: number | null;
  readonly quick: number;
  readonly created_at: number;
  readonly updated_at: number;
};

/** What a try needs of its endpoint. */
export interface Target {
  readonly id: WebhookEndpointId;
  readonly url: string;
  readonly secrets: readonly SealedCredential[];
  readonly failing_since: number | null;
}

/** Methods that change rows are called inside a transaction. */
export interface Endpoints {
  add(endpoint: NewEndpoint, at: number): Result<WebhookEndpoint, TenantError>;
  /** Makes or changes an endpoint as an export has it. A new one has no secret until a rotation makes it. */
  restore(id: WebhookEndpointId, endpoint: ExportedEndpoint, at: number): Result<WebhookEndpoint, TenantError>;
  /** False: it was restored, and not rotated yet. */
  hasSecret(id: WebhookEndpointId): boolean;
  list(): readonly WebhookEndpoint[];
  find(id: string): Result<WebhookEndpoint, TenantError>;
  change(id: WebhookEndpointId, changes: EndpointChanges, at: number): Result<WebhookEndpoint, TenantError>;
  remove(id: WebhookEndpointId): Result<null, TenantError>;
  rotate(id: WebhookEndpointId, rotation: SecretRotation, at: number): Result<WebhookEndpoint, TenantError>;
  /** Disables an endpoint. False: it is disabled already. */
  disable(id: WebhookEndpointId, reason: DisabledReason, at: number): boolean;
  /** Notes how a try ended: when it failed, or null. */
  noteAnswer(id: WebhookEndpointId, answer: { readonly failed: number | null; readonly isQuick: boolean }): void;
  /** Enabled endpoints that want the type. */
  listFor(type: WebhookEventType): readonly WebhookEndpointId[];
  /** Enabled endpoints, and whether each answered its last try well and soon. */
  listEnabled(): readonly { readonly id: WebhookEndpointId; readonly isQuick: boolean }[];
  /** The types that enabled endpoints want. */
  interest(): readonly WebhookEventType[];
  /** Null: it is disabled, or gone. */
  findTarget(id: string, at: number): Target | null;
  /** Every secret that signs or signed, for a rotation of master keys. */
  allSealed(): readonly { readonly name: string; readonly sealed: SealedCredential }[];
  /** Replaces a secret that has not changed since it was read. Returns how many were. */
  reseal(resealed: Resealed): number;
}

const toEndpointId = (text: string): WebhookEndpointId => {
  const id = parseId("whk", text);
  if (!id) throw new Error("A stored endpoint id is malformed");
  return id;
};

/** The rows are this file's own. A type that this build does not know is left out. */
const parseEvents = (stored: string | null): readonly WebhookEventType[] | null => {
  if (stored === null) return null;
  const named: readonly string[] = JSON.parse(stored);
  return WEBHOOK_EVENT_TYPES.filter((type) => named.includes(type));
};
const parseSecrets = (row: EndpointRow): readonly Secret[] => JSON.parse(row.secrets);
const signing = (secrets: readonly Secret[], at: number): readonly Secret[] => secrets.filter(({ until }) => until === null || until > at);

function toView(row: EndpointRow): WebhookEndpoint {
  const { id, url, description, disabled_at, failing_since, created_at, updated_at } = row;
  return {
    ...{ id: toEndpointId(id), url, description, disabled_at, failing_since, created_at, updated_at },
    events: parseEvents(row.events),
    metadata: JSON.parse(row.metadata),
    status: row.disabled_reason === null ? "enabled" : "disabled",
    disabled_reason: DISABLED_REASONS.find((reason) => reason === row.disabled_reason) ?? null,
    previous_secret_until: parseSecrets(row).reduce<number | null>(
      (last, { until }) => (until === null ? last : Math.max(until, last ?? 0)),
      null,
    ),
  };
}

const notFound = (endpoint: string): Result<never, TenantError> => err({ code: "webhook_endpoint_not_found", endpoint });

export function createEndpoints(sql: SyncSql, requests: OutcomeStore<string>): Endpoints {
  const all = (): readonly EndpointRow[] => sql.rows<EndpointRow>("SELECT * FROM webhook_endpoints ORDER BY id");
  const enabled = (): readonly EndpointRow[] => all().filter((row) => row.disabled_reason === null);
  const findRow = (id: string): EndpointRow | null => sql.rows<EndpointRow>("SELECT * FROM webhook_endpoints WHERE id = ?", id)[0] ?? null;
  const find = (id: string): Result<WebhookEndpoint, TenantError> => {
    const row = findRow(id);
    return row ? ok(toView(row)) : notFound(id);
  };
  const writeSecrets = (id: string, secrets: readonly Secret[]): void =>
    void sql.rows("UPDATE webhook_endpoints SET secrets = ? WHERE id = ?", JSON.stringify(secrets), id);

  type Inserted = Omit<NewEndpoint, "sealed" | "idempotency"> & { readonly secrets: readonly Secret[] };
  function insert({ id, url, events, description, metadata, secrets }: Inserted, at: number): Result<WebhookEndpointId, TenantError> {
    if (all().length >= MAX_ENDPOINTS) return err({ code: "webhook_endpoint_limit", limit: MAX_ENDPOINTS });
    sql.rows(
      "INSERT INTO webhook_endpoints (id, url, events, description, metadata, secrets, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
      id,
      url,
      events && JSON.stringify(events),
      description,
      JSON.stringify(metadata),
      JSON.stringify(secrets),
      at,
      at,
    );
    return ok(id);
  }

  function change(id: WebhookEndpointId, changes: EndpointChanges, at: number): Result<WebhookEndpoint, TenantError> {
    const found = find(id);
    if (!found.ok) return found;
    const { enabled: wanted, ...settings } = changes;
    const { url, events, description, metadata } = { ...found.value, ...settings };
    sql.rows(
      "UPDATE webhook_endpoints SET url = ?, events = ?, description = ?, metadata = ?, updated_at = ? WHERE id = ?",
      url,
      events && JSON.stringify(events),
      description,
      JSON.stringify(metadata),
      at,
      id,
    );
    if (wanted === true)
      sql.rows("UPDATE webhook_endpoints SET disabled_reason = NULL, disabled_at = NULL, failing_since = NULL WHERE id = ?", id);
    if (wanted === false) disable(id, "requested", at);
    return find(id);
  }
  const disable = (id: WebhookEndpointId, reason: DisabledReason, at: number): boolean =>
    sql.rows(
      "UPDATE webhook_endpoints SET disabled_reason = ?, disabled_at = ? WHERE id = ? AND disabled_reason IS NULL RETURNING id",
      reason,
      at,
      id,
    ).length > 0;

  return {
    add: (endpoint, at) => {
      const { idempotency, sealed } = endpoint;
      const secrets = [{ sealed, until: null }];
      const made = runOnce<string, TenantError>(requests, { idempotency, now: at }, () => insert({ ...endpoint, secrets }, at));
      return made.ok ? find(made.value.outcome) : made;
    },
    restore: (id, endpoint, at) => {
      if (findRow(id)) return change(id, endpoint, at);
      const made = insert({ ...endpoint, id, secrets: [] }, at);
      return made.ok ? find(made.value) : made;
    },
    hasSecret: (id) => {
      const row = findRow(id);
      return row !== null && parseSecrets(row).length > 0;
    },
    list: () => all().map(toView),
    find,
    change,
    disable,
    remove: (id) => (sql.rows("DELETE FROM webhook_endpoints WHERE id = ? RETURNING id", id).length > 0 ? ok(null) : notFound(id)),
    rotate: (id, { sealed, overlap_ms }, at) => {
      const row = findRow(id);
      if (!row) return notFound(id);
      // The answer to an earlier rotation may have been lost: the secret that the receiver has keeps its own end.
      const before = signing(parseSecrets(row), at).map((secret) => ({ ...secret, until: secret.until ?? at + overlap_ms }));
      const kept = overlap_ms > 0 ? before.slice(0, MAX_SECRETS - 1) : [];
      writeSecrets(id, [{ sealed, until: null }, ...kept]);
      return find(id);
    },
    noteAnswer: (id, { failed, isQuick }) =>
      // A row that stays as it is is not written.
      void sql.rows(
        `UPDATE webhook_endpoints SET failing_since = CASE WHEN ?1 IS NULL THEN NULL ELSE coalesce(failing_since, ?1) END, quick = ?2
         WHERE id = ?3 AND (quick <> ?2 OR (failing_since IS NULL) <> (?1 IS NULL))`,
        failed,
        isQuick ? 1 : 0,
        id,
      ),
    listFor: (type) =>
      enabled()
        .filter((row) => parseEvents(row.events)?.includes(type) ?? true)
        .map(({ id }) => toEndpointId(id)),
    listEnabled: () => enabled().map(({ id, quick }) => ({ id: toEndpointId(id), isQuick: quick === 1 })),
    interest: () => {
      const wanted = enabled().map((row) => parseEvents(row.events));
      return WEBHOOK_EVENT_TYPES.filter((type) => wanted.some((types) => types === null || types.includes(type)));
    },
    findTarget: (id, at) => {
      const row = findRow(id);
      if (!row || row.disabled_reason !== null) return null;
      const secrets = signing(parseSecrets(row), at).map(({ sealed }) => sealed);
      return { id: toEndpointId(id), url: row.url, secrets, failing_since: row.failing_since };
    },
    allSealed: () => all().flatMap((row) => parseSecrets(row).map(({ sealed }) => ({ name: toSecretPlace(toEndpointId(row.id)), sealed }))),
    reseal: ({ name, before, after }) => {
      const row = all().find(({ id }) => toSecretPlace(toEndpointId(id)) === name);
      const secrets = row ? parseSecrets(row) : [];
      const isBefore = ({ sealed }: Secret): boolean => sealed.sealed === before.sealed && sealed.wrapped_key === before.wrapped_key;
      if (!row || !secrets.some(isBefore)) return 0;
      writeSecrets(
        row.id,
        secrets.map((secret) => (isBefore(secret) ? { ...secret, sealed: after } : secret)),
      );
      return 1;
    },
  };
}
