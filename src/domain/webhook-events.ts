/** What an endpoint of a webhook can be sent. Stored for ever: a name is never changed or removed. */

/** From a session's outbox, in the transaction of the events that they follow from. */
const SESSION_ANNOUNCEMENTS = [
  "session.created",
  "turn.completed",
  "turn.failed",
  "turn.stopped",
  "turn.interrupted",
  "turn.awaiting_tools",
  "turn.awaiting_approval",
  "compaction.completed",
  "compaction.failed",
  "compaction.drafted",
  "history.trimmed",
  "schedule.skipped",
] as const;

/** From the tenant's object. The tenant's own list of events (`GET /v1/events`) has them, too. */
const TENANT_EVENT_TYPES = [
  "budget.threshold",
  "budget.reached",
  "session.erased",
  "erasure.completed",
  "export.completed",
  "export.failed",
  "import.completed",
  "import.failed",
  "webhook_endpoint.disabled",
] as const;

/** Sent on request only, to the endpoint that is tested. */
export const TEST_EVENT = "webhook.test";

/** What an endpoint can choose. */
export const WEBHOOK_EVENT_TYPES = [...SESSION_ANNOUNCEMENTS, ...TENANT_EVENT_TYPES] as const;

export type SessionAnnouncement = (typeof SESSION_ANNOUNCEMENTS)[number];
export type WebhookEventType = (typeof WEBHOOK_EVENT_TYPES)[number];

/** Why an endpoint is sent nothing. `requested`: by a change of its settings. `gone`: it answered 410. `failing`: for five days. */
export const DISABLED_REASONS = ["requested", "gone", "failing", "backlog"] as const;
export type DisabledReason = (typeof DISABLED_REASONS)[number];

export const DELIVERY_STATES = ["pending", "delivered", "failed"] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

/** Why a try failed. `status`: the answer was not 2xx. */
export const DELIVERY_FAILURES = [
  "status",
  "timeout",
  "unreachable",
  "refused_address",
  "secret_unavailable",
  "endpoint_disabled",
] as const;
export type DeliveryFailure = (typeof DELIVERY_FAILURES)[number];
