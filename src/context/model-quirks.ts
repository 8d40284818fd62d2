/** Placeholder. */
export interface Quirks {
  readonly truncates_silently?: boolean;
}
