/** The name and version of the format of exports (docs/export-format.md). A file that an older build cannot read has a higher version. */
export const EXPORT_FORMAT = "longhand.export";
export const EXPORT_VERSION = 1;

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
