/** What `http` and sessions may ask of a tenant's object about webhooks. */
import type { Page } from "../contract/page";
import type { WebhookDelivery, WebhookDeliveryDetail, WebhookEndpoint, WebhookReplay } from "../contract/webhook";
import type { SessionId, WebhookDeliveryId, WebhookEndpointId } from "../domain/ids";
import type { DeliveryFailure, DeliveryState, WebhookEventType } from "../domain/webhook-events";
import type { Act } from "./audit-chain";
import { type Condition, toEtag } from "./conditions";
import type { Idempotency } from "./session-api";
import type { SealedCredential, TenantOutcome } from "./tenant-api";
import type { Announcement } from "./to-announcements";

/** What a client says of an endpoint. */
interface EndpointSettings {
  readonly url: string;
  /** Null: all. */
  readonly events: readonly WebhookEventType[] | null;
  readonly description: string | null;
  readonly metadata: Readonly<Record<string, string>>;
}

/** An endpoint in an export: it has no secret. */
export interface ExportedEndpoint extends EndpointSettings {
  readonly enabled: boolean;
}

/** `sealed`: the secret, sealed for `toSecretPlace`. */
export interface NewEndpoint extends EndpointSettings {
  readonly id: WebhookEndpointId;
  readonly sealed: SealedCredential;
  readonly idempotency: Idempotency | null;
}

/** An absent field is unchanged. */
export interface EndpointChanges extends Partial<EndpointSettings> {
  readonly enabled?: boolean;
}

export interface SecretRotation {
  readonly sealed: SealedCredential;
  readonly overlap_ms: number;
}

export interface DeliveryPage {
  /** Null: from the newest on. */
  readonly after: WebhookDeliveryId | null;
  readonly limit: number;
  readonly state: DeliveryState | null;
}

/** The etag of what a client says of an endpoint: deliveries do not change it. */
export const toEndpointEtag = ({ url, events, description, metadata, status }: WebhookEndpoint): string =>
  toEtag({ url, events, description, metadata, status });

/** The name under which an endpoint's secrets are sealed, among the tenant's credentials. No credential of a client can have it. */
export const toSecretPlace = (endpoint: WebhookEndpointId): string => `webhook/${endpoint}`;

export interface TenantWebhooksApi {
  /** Keeps what a session announces for the endpoints that want it. Repeating a call changes nothing. */
  announce(session: SessionId, announcements: readonly Announcement[]): Promise<TenantOutcome<null>>;

  /** With a repeated idempotency key: the endpoint that the first request made; its `id` then differs from the given one. */
  createWebhookEndpoint(act: Act, endpoint: NewEndpoint): Promise<TenantOutcome<WebhookEndpoint>>;
  /** In order of their ids. */
  listWebhookEndpoints(): Promise<TenantOutcome<readonly WebhookEndpoint[]>>;
  getWebhookEndpoint(id: WebhookEndpointId): Promise<TenantOutcome<WebhookEndpoint>>;
  changeWebhookEndpoint(
    act: Act,
    id: WebhookEndpointId,
    input: { readonly changes: EndpointChanges; readonly condition?: Condition | undefined },
  ): Promise<TenantOutcome<WebhookEndpoint>>;
  deleteWebhookEndpoint(act: Act, id: WebhookEndpointId, condition?: Condition): Promise<TenantOutcome<null>>;
  rotateWebhookSecret(act: Act, id: WebhookEndpointId, rotation: SecretRotation): Promise<TenantOutcome<WebhookEndpoint>>;

  /** Sends a test event to this endpoint alone, once. */
  testWebhookEndpoint(act: Act, id: WebhookEndpointId): Promise<TenantOutcome<WebhookDelivery>>;
  /** The newest first. */
  listWebhookDeliveries(id: WebhookEndpointId, page: DeliveryPage): Promise<TenantOutcome<Page<WebhookDelivery>>>;
  getWebhookDelivery(id: WebhookEndpointId, delivery: WebhookDeliveryId): Promise<TenantOutcome<WebhookDeliveryDetail>>;
  /** Tries a delivery again from the start of the schedule. */
  replayWebhookDelivery(act: Act, id: WebhookEndpointId, delivery: WebhookDeliveryId): Promise<TenantOutcome<WebhookDelivery>>;
  /** Tries those again that failed, and were made at this time or later. */
  replayWebhookDeliveries(act: Act, id: WebhookEndpointId, since: number): Promise<TenantOutcome<WebhookReplay>>;
}

/** One try of a delivery. */
export interface WebhookOrder {
  readonly url: string;
  /** `webhook-id`. */
  readonly event: string;
  readonly body: string;
  /** Sealed for `place`. Each signs. */
  readonly secrets: readonly SealedCredential[];
  readonly place: string;
}

/** `status`: of the answer. Null: there was none. */
export interface WebhookAnswer {
  readonly status: number | null;
  readonly failure: DeliveryFailure | null;
  readonly answer: string | null;
}

/** Signs and sends. Never rejects. */
export type SendWebhook = (order: WebhookOrder) => Promise<WebhookAnswer>;
