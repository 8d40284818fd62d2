/**
 * One backend for all test files of a process, because a start takes more than a second of CPU time. It starts when a file first asks for it,
 * and ends with the process. A file has tenants of its own, and changes nothing of the deployment: no plan, no admin key, no other tenant.
 * A test that kills its server, or searches its data as a whole, has a sandbox of its own.
 */
import type { Connection } from "../../scripts/support/api-client";
import { createTenant } from "../../scripts/support/connection";
import { createSandbox } from "../../scripts/support/sandbox";

export interface SharedServer {
  readonly url: string;
  /** The deployment's own key. */
  readonly adminKey: string;
}

let shared: Promise<SharedServer> | null = null;

export function useSharedServer(): Promise<SharedServer> {
  shared ??= start();
  return shared;
}

/** A new tenant of the shared server, with a key that has all scopes. */
export async function openTenant(): Promise<Connection> {
  const { url, adminKey } = await useSharedServer();
  return createTenant(url, adminKey);
}

async function start(): Promise<SharedServer> {
  const sandbox = await createSandbox({ port: 0 });
  const { url } = await sandbox.start();
  return { url, adminKey: sandbox.adminKey };
}
