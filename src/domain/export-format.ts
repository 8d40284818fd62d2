/** The name and version of the format of exports (docs/export-format.md). A file that an older version cannot read has a higher one. */
export const EXPORT_FORMAT = "longhand.export";
export const EXPORT_VERSION = 1;
