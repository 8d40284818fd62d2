/**
 * Walks over the document: causes each answer of 500 and above that an operation lists, with each of its reasons, on each operation. Objects
 * and stores that fail take the place of the real ones. `call` checks every response against the document.
 */
import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { WholeSessionApi } from "../../src/app/control-api";
import type { FileStore } from "../../src/app/file-api";
import type { SessionError } from "../../src/app/session-api";
import { answerMisconfigured } from "../../src/http/misconfigured";
import { err, ok } from "../../src/lib/result";
import { toAnswer } from "../support/documented-answers";
import { NEVER_ANSWERED } from "../support/never-answered";
import {
  ADMIN_KEY,
  description,
  emptyDatabases,
  emptyRows,
  emptyTenantRows,
  fillPath,
  KEY,
  makeId,
  modelEntry,
  NOW,
  plainWorld,
  readDocument,
  readProblem,
  sampleBody,
  type WorldInput,
  world,
} from "./support";

interface Fault {
  readonly method: string;
  /** `/v1/sessions/{session_id}` */
  readonly path: string;
  readonly status: number;
  readonly reason: string;
}

const listed = (await readDocument(world().app)).all.map((answer) => answer.split(" "));
const faults: readonly Fault[] = listed.flatMap(([method = "", path = "", status = "", reason]) =>
  reason !== undefined && status.startsWith("5") && !NEVER_ANSWERED.has(`${method} ${path} ${status} ${reason}`)
    ? [{ method, path, status: Number(status), reason }]
    : [],
);

const fail = (marks: object = {}) => {
  throw Object.assign(new Error("secret words of the runtime"), marks);
};

/** An API of which every method does the same. */
const each = <T extends object>(work: () => unknown): T => new Proxy({} as T, { get: () => async () => work() });
const refusing = (error: SessionError): WorldInput => ({ deps: { sessions: () => each<WholeSessionApi>(() => err(error)) } });

/** Every object throws, and where no object is asked the key cannot be looked up. */
function throwing(marks: object): WorldInput {
  const broken = each(() => fail(marks));
  const deps = {
    sessions: () => broken,
    tenants: () => broken,
    deployment: () => broken,
    sessionList: broken,
    sessionSearch: broken,
    usageList: broken,
    endUsers: broken,
    executions: broken,
    rows: () => fail(marks),
    tenantRows: () => fail(marks),
    databases: { ...emptyDatabases(), measure: async () => fail(marks) },
    readDocsFile: () => fail(marks),
  };
  return { deps: deps as WorldInput["deps"] & object };
}

const lost = async () => fail();
/** D1 is out of reach. */
const withoutLists: WorldInput = {
  tenant: {
    beginErasure: async () => ok({ noted: false, erasure: null }),
    previewRetention: async () => ok({ at: 1, candidates: 0, looked_at: 0, data: [], next: null, usage_before: 1 }),
  },
  deps: {
    sessionList: { listSessions: lost, isListed: lost },
    sessionSearch: { searchSessions: lost },
    usageList: { sumUsage: lost, countOldUsage: lost },
    endUsers: { listEndUsers: lost, findEndUser: lost },
    tenantIds: { listTenantIds: lost },
    executions: { readExecution: lost },
    rows: async () => ({ ...emptyRows(), stand: lost }),
    tenantRows: async () => ({ ...emptyTenantRows(), read: lost, listSessions: lost }),
    databases: { ...emptyDatabases(), forMove: (name) => ({ ...emptyDatabases().forMove(name), hasTables: lost }) },
  },
};

const file = {
  id: makeId("fil"),
  name: null,
  media_type: "image/png",
  bytes: 8,
  sha256: "9f86d081884c7d65",
  tokens: 1,
  created_at: NOW,
  sessions: 0,
  expires_at: null,
};
const readyExport = {
  id: makeId("exp"),
  of: "tenant",
  session_id: null,
  end_user: null,
  settings: [],
  status: "ready",
  sessions_done: 0,
  sessions_total: 0,
  bytes: 1,
  created_at: NOW,
  finished_at: NOW,
  expires_at: NOW + 1,
} as const;
const withFile = {
  getExport: async () => ok(readyExport),
  getFile: async () => ok(file),
  beginFile: async () => ok(null),
  useFiles: async () => ok([]),
} as const;

/** How each reason is caused. */
const CAUSES: Readonly<Record<string, WorldInput>> = {
  internal: throwing({}),
  unavailable: throwing({ retryable: true }),
  overloaded: throwing({ overloaded: true }),
  storage_full: refusing({ code: "storage_full" }),
  models_unavailable: refusing({ code: "models_unavailable" }),
  budgets_unavailable: refusing({ code: "budgets_unavailable" }),
  read_model_unavailable: withoutLists,
  files_disabled: { tenant: withFile, deps: { files: () => null, exports: () => null } },
  file_store_unavailable: { tenant: withFile, deps: { files: () => each<FileStore>(fail), exports: () => ({ open: async () => fail() }) } },
  credentials_disabled: { deps: { sealer: null } },
  probe_failed: {
    tenant: { getModel: async (id) => ok(modelEntry({ id })) },
    deps: { probeLimits: async () => err({ reason: "refused", status: 403 }) },
  },
  mcp_failed: {
    tenant: {
      listMcpServers: async () =>
        ok([
          {
            name: "github",
            url: "https://mcp.example.com",
            secret_header: null,
            timeout_ms: 1_000,
            needs_approval: false,
            allowed_tools: null,
            listing: { tools: [], skipped: [], truncated: false },
            listed_at: NOW,
            created_at: NOW,
            updated_at: NOW,
            credential_missing: false,
          },
        ]),
    },
    deps: { listMcpTools: async () => err({ reason: "status", status: 500 }) },
  },
};

const PNG = "iVBORw0KGgo=";
const withImage = [{ type: "image", url: `data:image/png;base64,${PNG}` }];

/** A body that makes the route store a file, where the fault is that of the store. */
function bodyFor({ method, path, reason }: Fault): unknown {
  const sample = sampleBody({ method, path: toPattern(path) });
  if (!reason.startsWith("file")) return sample;
  if (path === "/v1/files") return "A text";
  if (path.endsWith("/batch")) return { items: [{ content: withImage }] };
  if (path.endsWith("/respond")) return { messages: [{ content: withImage }] };
  return path.includes("/messages") ? { content: withImage } : sample;
}

const toPattern = (path: string): string => path.replace(/\{([a-z_]+)\}/g, ":$1");

function toRequest(fault: Fault) {
  const { method, path, reason } = fault;
  const body = bodyFor(fault);
  const isFile = path === "/v1/files" && method === "POST";
  const headers = isFile ? { "content-type": "text/plain", "content-length": "6" } : {};
  const query = path.endsWith("/{tenant_id}/sessions") && reason === "read_model_unavailable" ? "?source=rows" : "";
  const key = path.startsWith("/v1/admin/") ? ADMIN_KEY : KEY;
  return { url: fillPath(toPattern(path)) + query, options: { key, headers, ...(body !== undefined && { body }) } };
}

/** Faults of the deployment are answered before there is an app. */
async function answerBroken({ method, path }: Fault) {
  const { error } = z.object({ ADMIN_KEY: z.string() }).safeParse({});
  const log = { info: () => {}, warn: () => {}, error: () => {} };
  const response = answerMisconfigured(error ?? new z.ZodError([]), log);
  const { app } = plainWorld();
  expect((await readDocument(app)).findFaults(await toAnswer(method, fillPath(toPattern(path)), response))).toEqual([]);
  return response;
}

async function cause(fault: Fault): Promise<Response> {
  const { url, options } = toRequest(fault);
  const input = CAUSES[fault.reason] ?? {};
  const response = await world(input).call(fault.method, url, options);
  if (response.status === fault.status || !["internal", "unavailable", "overloaded"].includes(fault.reason)) return response;
  // The route asks no object. Then its key is looked up in vain.
  const marks = fault.reason === "internal" ? {} : fault.reason === "unavailable" ? { retryable: true } : { overloaded: true };
  return world({ deps: { authenticate: async () => fail(marks) } }).call(fault.method, url, options);
}

it("the walk knows a cause of each reason, and each is listed", () => {
  const reasons = [...new Set(faults.map(({ reason }) => reason))];

  expect(reasons.toSorted()).toEqual([...Object.keys(CAUSES), "misconfigured"].toSorted());
  expect(faults.length).toBeGreaterThan(300);
});

describe.each([...Map.groupBy(faults, ({ status, reason }) => `${status} ${reason}`)])("%s", (_, same) => {
  it.each(same.map((fault) => [`${fault.method} ${fault.path}`, fault] as const))("%s", async (__, fault) => {
    const response = fault.reason === "misconfigured" ? await answerBroken(fault) : await cause(fault);

    expect(response.status).toBe(fault.status);
    const problem = await readProblem(response);
    expect(problem.type).toBe(`urn:longhand:problem:${fault.reason}`);
    expect(JSON.stringify(problem)).not.toContain("secret words");
  });
});

it("the fakes answer when nothing fails", async () => {
  expect(
    (await world({ session: { describe: async () => ok(description()) } }).call("GET", fillPath("/v1/sessions/:session_id"))).status,
  ).toBe(200);
});
