/** The admin routes of a running server. */
import { ApiError, type Connection, callApi, type Method } from "./api-client.ts";
import { Failure } from "./output.ts";

/** Throws a `Failure` with the server's refusal, or when there is no server. */
export async function askAdmin(admin: Connection, method: Method, path: string): Promise<unknown> {
  try {
    return await callApi(admin, { method, path });
  } catch (error) {
    throw new Failure(error instanceof ApiError ? error.message : `The server at ${admin.url} does not answer. Is it running (npm start)?`);
  }
}

/** Reads the tenant from a key: `lh_<env>_<tenant>_<secret>`. */
export function readTenant(key: string): string {
  const [, ulid] = /^lh_[^_]+_([0-9A-Z]{26})_/.exec(key) ?? [];
  if (ulid === undefined) throw new Failure("The key in .longhand/dev.json names no tenant: give --tenant ID too.");
  return `ten_${ulid}`;
}
