/** The name and versions of the format of exports (docs/export-format.md). A file that an older version cannot read has a higher one. */
export const EXPORT_FORMAT = "longhand.export";
/** The version of a file without settings. Every build reads it. */
export const EXPORT_VERSION = 1;
/** The version of a file with settings of the tenant. */
export const SETTINGS_VERSION = 2;
/** The version of a file with channels among them. */
export const CHANNELS_VERSION = 3;
/** The version of a file with endpoints of webhooks among them. */
export const WEBHOOKS_VERSION = 4;

/** The kinds of a tenant's settings, in the order in which a file has them: what names another comes behind it. */
export const SETTING_KINDS = [
  "credential",
  "model",
  "tool",
  "mcp_server",
  "tenant",
  "retention",
  "key",
  "channel",
  "webhook_endpoint",
] as const;
export type SettingKind = (typeof SETTING_KINDS)[number];

/** What an import does with a setting that the tenant has otherwise already. */
export const SETTINGS_MODES = ["keep", "replace", "skip"] as const;
export type SettingsMode = (typeof SETTINGS_MODES)[number];
