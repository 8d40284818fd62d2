/** What the HTTP app needs to be built, for scripts that only ask it what it documents. Whatever would reach an object throws. */
import { newId } from "../../src/app/new-id.ts";
import type { HttpDeps } from "../../src/http/deps.ts";

function unreachable(): never {
  throw new Error("The HTTP app of a script reaches no object.");
}

export const appWithoutObjects: HttpDeps = {
  sessions: unreachable,
  tenants: unreachable,
  deployment: unreachable,
  adminKeys: { authenticate: unreachable, generate: unreachable, noteChange: unreachable },
  tenantIds: { listTenantIds: unreachable },
  sessionList: { listSessions: unreachable, isListed: unreachable },
  sessionSearch: { searchSessions: unreachable },
  usageList: { sumUsage: unreachable, countOldUsage: unreachable },
  endUsers: { listEndUsers: unreachable, findEndUser: unreachable },
  executions: { readExecution: unreachable },
  rows: unreachable,
  tenantRows: unreachable,
  databases: { names: [], measure: unreachable, forMove: unreachable },
  sealer: null,
  compactionSealer: { seal: unreachable, sealAlike: unreachable, open: unreachable },
  probeLimits: unreachable,
  listMcpTools: unreachable,
  authenticate: unreachable,
  findKey: unreachable,
  openSocket: unreachable,
  readDocsFile: unreachable,
  signAccessToken: unreachable,
  allowedOrigins: unreachable,
  limits: unreachable,
  countFlood: null,
  requestRates: { admit: unreachable },
  streamSlots: { take: unreachable, report: unreachable, release: unreachable },
  files: unreachable,
  exports: unreachable,
  exportSigner: { sign: unreachable, verify: unreachable },
  fileSigner: { sign: unreachable, verify: unreachable },
  noteChange: unreachable,
  generateKey: unreachable,
  hashKey: unreachable,
  newId,
  now: Date.now,
  schedule: unreachable,
  newPipe: unreachable,
  log: { info: () => {}, warn: () => {}, error: () => {} },
  config: { adminKey: null, publicUrl: null, allowPrivateModelUrls: false, allowPrivateToolUrls: false, defaultPolicy: "balanced" },
};
