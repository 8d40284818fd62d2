/** The development tenant's key, and `.longhand/dev.json`, from which scripts read it. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { z } from "zod";
import { ApiError, type Connection, callApi } from "./api-client.ts";
import { CONNECTION } from "./paths.ts";

const connection = z.object({ url: z.url(), key: z.string().min(1) });

/** Null when the file is missing or unreadable. */
export function readConnection(path = CONNECTION): Connection | null {
  try {
    return connection.parse(JSON.parse(readFileSync(path, "utf8")));
  } catch {
    return null;
  }
}

export function writeConnection(value: Connection, path = CONNECTION): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 });
}

/** The known key if the server at `url` accepts it, otherwise a new key of its tenant or of a new tenant. */
export async function ensureDevelopmentKey(url: string, known: Connection | null, adminKey: string): Promise<Connection> {
  const candidate = known && { url, key: known.key };
  if (!candidate) return createTenant(url, adminKey);
  return (await isAccepted(candidate)) ? candidate : ((await replaceKey(candidate, adminKey)) ?? createTenant(url, adminKey));
}

/** Null when the server does not know the key's tenant. */
async function replaceKey({ url, key }: Connection, adminKey: string): Promise<Connection | null> {
  const [, ulid] = /^lh_[^_]+_([0-9A-Z]{26})_/.exec(key) ?? [];
  if (ulid === undefined) return null;
  try {
    return await createKey({ url, key: adminKey }, `ten_${ulid}`);
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return null;
    throw error;
  }
}

async function isAccepted(candidate: Connection): Promise<boolean> {
  try {
    await callApi(candidate, { method: "GET", path: "/v1/tenant" });
    return true;
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) return false;
    throw error;
  }
}

/** Creates a tenant and a key with all scopes. */
export async function createTenant(url: string, adminKey: string): Promise<Connection> {
  const admin = { url, key: adminKey };
  const tenant = z
    .object({ id: z.string() })
    .parse(await callApi(admin, { method: "POST", path: "/v1/admin/tenants", body: { name: "Development" } }));
  return createKey(admin, tenant.id);
}

async function createKey(admin: Connection, tenant: string): Promise<Connection> {
  const path = `/v1/admin/tenants/${tenant}/keys`;
  const { key } = z.object({ key: z.string() }).parse(await callApi(admin, { method: "POST", path, body: { name: "development" } }));
  return { url: admin.url, key };
}
