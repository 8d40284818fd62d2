/** How many files a tenant stores at most, and of how many bytes. */
import type { TenantError } from "../../app/tenant-api";
import type { LimitSet } from "../../contract/limits";

export const MAX_FILES = 10_000;
export const MAX_STORED_BYTES = 10_000_000_000;

/** The tenant's own limits. They count where they are smaller than those of all tenants. */
export type FileLimits = Pick<LimitSet["tenant"], "files" | "stored_bytes">;

export type HeldFiles = { readonly files: number; readonly bytes: number };

/** Null: there is room for a file of so many bytes. */
export function refuseFile(held: HeldFiles, bytes: number, most: FileLimits): TenantError | null {
  const files = Math.min(MAX_FILES, most.files ?? MAX_FILES);
  const stored = Math.min(MAX_STORED_BYTES, most.stored_bytes ?? MAX_STORED_BYTES);
  if (held.files >= files) return { code: "file_limit", of: "files", limit: files };
  return held.bytes + bytes > stored ? { code: "file_limit", of: "bytes", limit: stored } : null;
}
