/** Paths of generated files. git ignores all of them. */
import { join } from "node:path";

export const ROOT = join(import.meta.dirname, "..", "..");
/** Wrangler's default, so that its other commands (`wrangler d1 execute --local`) use the same data. */
export const STATE = join(ROOT, ".wrangler", "state");
/** What sandboxes are made from; see scripts/support/built-worker.ts. */
export const BUILT = join(ROOT, ".wrangler", "built");
export const SECRETS = join(ROOT, ".dev.vars");
/** The connection data of the local server, for the scripts of this checkout. */
export const LONGHAND = join(ROOT, ".longhand");
export const CONNECTION = join(LONGHAND, "dev.json");
export const SERVER_LOG = join(LONGHAND, "server.log");
/** The lock that a running server of this checkout holds; see scripts/support/server-lock.ts. */
export const SERVER_LOCK = join(LONGHAND, "server.lock");
