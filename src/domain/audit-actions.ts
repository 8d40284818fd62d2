/** What an entry of the audit log can say. The lists are closed, so no entry can name something that was never thought of. */

/** Each is what was done, in the past tense. Stored for ever: a name is never changed or removed. */
export const AUDIT_ACTIONS = [
  "tenant.created",
  "tenant.rebuilt",
  "tenant.suspended",
  "tenant.resumed",
  // To another database: begun, switched to it, and ended before that.
  "tenant.move_begun",
  "tenant.moved",
  "tenant.move_cancelled",
  "settings.changed",
  "retention.changed",
  "key.created",
  "key.rotated",
  "key.revoked",
  "model.put",
  "model.deleted",
  "credential.put",
  "credential.deleted",
  "credentials.resealed",
  "tool.put",
  "tool.deleted",
  "mcp_server.put",
  "mcp_server.refreshed",
  "mcp_server.deleted",
  "file.deleted",
  "session.rebuilt",
  // The texts that differed were shown to the admin.
  "session.rebuilt_and_read",
  "content.read_by_admin",
  "session.settings_changed",
  "session.archived",
  "session.unarchived",
  "session.rewound",
  "pins.set",
  "message.redacted",
  "compaction.requested",
  "compaction.reverted",
  "summary.reset",
  "draft.edited",
  "draft.committed",
  "draft.discarded",
  "erasure.requested",
  // Every store has reported.
  "erasure.finished",
  "export.created",
  "export.deleted",
  "export.opened",
  "sessions.imported",
  // What the deployment lets the tenant use: its plan, or limits of its own.
  "limits.changed",
  "admin_key.created",
  "admin_key.rotated",
  "admin_key.revoked",
  "plan.put",
  "plan.deleted",
  "tenant_list.rebuilt",
  "import.begun",
  "schedule.set",
  "schedule.removed",
  "import.deleted",
  "webhook_endpoint.created",
  "webhook_endpoint.changed",
  "webhook_endpoint.secret_rotated",
  "webhook_endpoint.deleted",
  // By the service itself: it answered 410, or failed for days.
  "webhook_endpoint.disabled",
  "webhook_endpoint.tested",
  "webhook_deliveries.replayed",
] as const;

export const AUDIT_TARGETS = [
  "tenant",
  "key",
  "model",
  "credential",
  "tool",
  "mcp_server",
  "file",
  "session",
  "erasure",
  "export",
  "admin_key",
  "plan",
  "deployment",
  "import",
  "webhook_endpoint",
] as const;

/** Targets that this service named. A tenant chose the names of the others. */
export const GENERATED_TARGETS: readonly (typeof AUDIT_TARGETS)[number][] = [
  "key",
  "file",
  "session",
  "erasure",
  "export",
  "import",
  "webhook_endpoint",
];

/** `system`: the service itself, without a request. `signed_address`: a request that needed no key. */
export const AUDIT_ACTORS = ["key", "access_token", "admin", "signed_address", "system"] as const;
