/** Where things are, all of them ignored by git. */
import { join } from "node:path";

export const ROOT = join(import.meta.dirname, "..", "..");
/** Wrangler's own default, so that its other commands (`wrangler d1 execute --local`) see the same data. */
export const STATE = join(ROOT, ".wrangler", "state");
export const SECRETS = join(ROOT, ".dev.vars");
/** What this checkout's scripts know of the local server. */
export const LONGHAND = join(ROOT, ".longhand");
export const CONNECTION = join(LONGHAND, "dev.json");
export const SERVER_LOG = join(LONGHAND, "server.log");
/** Held while a server of this checkout runs; scripts/support/server-lock.ts. */
export const SERVER_LOCK = join(LONGHAND, "server.lock");
