/**
 * Every log line names its request. The walk asks each operation while D1 has no tables, and while tenants' objects refuse what sessions and
 * the deployment report, so that each object has something to say. What an alarm does is marked here, so that no other line may say that it
 * is background work.
 */
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { tenantObjectName } from "../../src/app/object-name";
import { DeploymentObject, SessionObject, TenantObject } from "../../src/index";
import { serveRequest } from "../../src/lib/request-scope";
import { sampleBody, sampleQuery } from "../http/support";
import { words } from "./conversation";
import { type Chat, migrate, newChat, newId, newTenant, readBody, request, type Tenant } from "./support";

interface Line {
  readonly event: string;
  readonly request_id?: string;
  readonly work?: string;
  readonly component?: string;
  readonly object?: string;
  readonly worker?: string;
  readonly tenant_id?: string;
  readonly session?: string;
}

/** Who wrote the line. The names are those that the composition roots give to their logs. */
const toWriter = ({ object, component, worker }: Line): string => object ?? component ?? worker ?? "unknown";

const ALARM = "alarm";
const lines: Line[] = [];

/** Marks the work of an object's alarms. */
function markAlarms(type: { readonly prototype: { alarm(): Promise<void> } }): void {
  const { alarm } = type.prototype;
  vi.spyOn(type.prototype, "alarm").mockImplementation(function (this: unknown) {
    return serveRequest(ALARM, () => Reflect.apply(alarm, this, []));
  });
}

/** What sessions' objects and the deployment's object bring to the log of the tenant's. */
const REPORTED = ["session.settings_changed", "session.archived", "session.unarchived", "session.rewound", "pins.set", "limits.changed"];

/** The tenant's object refuses those reports. */
async function refuseReports({ id }: Tenant): Promise<void> {
  const isReported = `NEW.action IN (${REPORTED.map((action) => `'${action}'`).join(", ")})`;
  await runInDurableObject(env.TENANTS.getByName(tenantObjectName(id)), (_, { storage: { sql } }) => {
    sql.exec(`CREATE TRIGGER away BEFORE INSERT ON audit WHEN ${isReported} BEGIN SELECT RAISE(ABORT, 'away'); END`);
  });
}

async function newWalkedChat(): Promise<Chat> {
  const chat = await newChat();
  await refuseReports(chat.tenant);
  return chat;
}

const document = await readBody<{ paths: Record<string, Record<string, unknown>> }>(await request("GET", "/openapi.json", {}));
/** Deletes last: what they remove is asked for by the others. */
const walked = Object.entries(document.paths)
  .flatMap(([path, operations]) => Object.keys(operations).map((method) => ({ method: method.toUpperCase(), path })))
  .toSorted((one, other) => Number(one.method === "DELETE") - Number(other.method === "DELETE"))
  .map(({ method, path }, index) => ({ method, path, id: `walk-${index}` }));

let chat: Chat;
let ids: Readonly<Record<string, string>>;
/** The lines that each operation wrote before its answer, with its own id. */
const own: Line[] = [];
const asked = new Set<string>();

beforeAll(async () => {
  await migrate();
  for (const type of [SessionObject, TenantObject, DeploymentObject]) markAlarms(type);
  for (const level of ["log", "warn", "error"] as const) {
    vi.spyOn(console, level).mockImplementation((text: string) => void lines.push(JSON.parse(text)));
  }
  chat = await newWalkedChat();
  const turn = await chat.say("hello");
  ids = { session_id: chat.id, turn_id: turn.id, message_id: turn.message_id ?? "", tenant_id: chat.tenant.id, key_id: newId("key") };
  await env.DB.exec("DROP TABLE sessions");
  await env.DB.exec("DROP TABLE tenants");
  // What these requests left running still writes lines.
  for (const { event, request_id } of lines) if (event === "http.request" && request_id !== undefined) asked.add(request_id);
});
afterAll(() => void vi.restoreAllMocks());

const fill = (path: string): string => path.replace(/\{([a-z_]+)\}/g, (_, name: string) => ids[name] ?? "missing") + sampleQuery(path);

/** Bodies of operations whose sample changes nothing: then the object has nothing to report. */
const CHANGING: ReadonlyMap<string, unknown> = new Map([
  ["PATCH /v1/admin/tenants/{tenant_id}", { limits: { tenant: { files: 7 } } }],
  ["PATCH /v1/sessions/{session_id}", { title: "anew" }],
]);

async function ask({ method, path, id }: (typeof walked)[number]): Promise<Response> {
  const sample = method === "GET" ? undefined : sampleBody({ method, path: path.replace(/\{([a-z_]+)\}/g, ":$1") });
  const body = CHANGING.get(`${method} ${path}`) ?? sample;
  const key = path.startsWith("/v1/admin/") ? env.ADMIN_KEY : chat.tenant.key;
  return request(method, fill(path), { key, headers: { "x-request-id": id }, ...(body !== undefined && { body }) });
}

/** What would refuse the operations behind it is taken back. */
const UNDONE: readonly (readonly [ending: string, path: () => string])[] = [
  ["/suspend", () => `/v1/admin/tenants/${chat.tenant.id}/resume`],
  ["/archive", () => `/v1/sessions/${chat.id}/unarchive`],
];
async function undo(path: string): Promise<void> {
  const [, back] = UNDONE.find(([ending]) => path.endsWith(ending)) ?? [];
  if (back)
    await request("POST", back(), {
      key: back().startsWith("/v1/admin/") ? env.ADMIN_KEY : chat.tenant.key,
      headers: { "x-request-id": "undone" },
    });
}

describe("the walk over all operations", () => {
  it.each(walked)("$method $path leaves only lines with the id of its answer", async (operation) => {
    const { id, path } = operation;
    lines.length = 0;
    const answer = await ask(operation);
    const written = [...lines];
    await answer.body?.cancel();

    expect(answer.headers.get("x-request-id")).toBe(id);
    expect(written.filter(({ event, request_id }) => event === "http.request" && request_id === id)).toHaveLength(1);
    // A turn, or what else an answered operation left running, goes on under its own id. The Worker's requests do not.
    const isLeft = (line: Line) => toWriter(line) !== "http" && asked.has(line.request_id ?? "");
    expect(written.filter((line) => line.request_id !== id && line.request_id !== ALARM && !isLeft(line))).toEqual([]);
    own.push(...written.filter(({ request_id }) => request_id === id));
    asked.add(id);
    await undo(path);
    asked.add("undone");
  });

  it("heard each object and the Worker", () => {
    const requests = new Map<string, Set<string>>();
    for (const line of own) requests.set(toWriter(line), (requests.get(toWriter(line)) ?? new Set()).add(line.request_id ?? ""));

    const counts = Object.fromEntries([...requests].map(([writer, its]) => [writer, its.size]));
    expect(counts).toEqual({
      http: walked.length,
      session: expect.any(Number),
      tenant: expect.any(Number),
      deployment: expect.any(Number),
    });
  });
});

describe("two requests at once", () => {
  const both = async (call: (id: string) => Promise<Response>): Promise<void> => {
    lines.length = 0;
    await Promise.all(["one", "two"].map(call));
  };
  const of = (event: string) => lines.filter((line) => line.event === event);

  it("have each their own id in the lines of one session's object", async () => {
    const { tenant, id: session } = await newWalkedChat();
    await both((id) =>
      request("PATCH", `/v1/sessions/${session}`, { key: tenant.key, headers: { "x-request-id": id }, body: { title: id } }),
    );

    expect(new Set(of("acts_not_recorded").map(({ request_id }) => request_id))).toEqual(new Set(["one", "two"]));
  });

  it("have each their own id in the lines of the deployment's object", async () => {
    const tenants = [await newTenant(), await newTenant()];
    await Promise.all(tenants.map(refuseReports));
    const body = { limits: { tenant: { files: 1 } } };
    await both((id) =>
      request("PATCH", `/v1/admin/tenants/${tenants[id === "one" ? 0 : 1]?.id}`, {
        key: env.ADMIN_KEY,
        headers: { "x-request-id": id },
        body,
      }),
    );

    const told = new Set(of("limits_not_told").map(({ tenant_id, request_id }) => `${tenant_id} ${request_id}`));
    expect(told).toEqual(new Set([`${tenants[0]?.id} one`, `${tenants[1]?.id} two`]));
  });

  it("have each their own id in the lines of tenants' objects", async () => {
    const tenants = [await newTenant(), await newTenant()];
    await both((id) =>
      request("PATCH", "/v1/tenant", {
        key: tenants[id === "one" ? 0 : 1]?.key ?? "",
        headers: { "x-request-id": id },
        body: { name: id },
      }),
    );

    for (const [index, id] of ["one", "two"].entries())
      await expect
        .poll(() => of("tenant.projection_failed").filter(({ tenant_id }) => tenant_id === tenants[index]?.id))
        .toContainEqual(expect.objectContaining({ request_id: id }));
  });
});

describe("the lines of a compaction's job", () => {
  it("have the id of the request that asked for the compaction, in the queue's consumer and in the session's object", async () => {
    const refused = { status: 402, error: { message: "no credit" } };
    const { tenant, id: session } = await newChat({ summaries: [refused, refused] });
    for (let index = 0; index < 6; index++)
      await request("POST", `/v1/sessions/${session}/messages`, {
        key: tenant.key,
        body: { content: words(300, `m-${index}`), run: false },
      });
    lines.length = 0;
    const path = `/v1/sessions/${session}/compactions`;
    await request("POST", path, { key: tenant.key, headers: { "x-request-id": "compacts" }, body: { keep_recent: 1 } });

    const find = (writer: string, event: string) =>
      lines.filter((line) => toWriter(line) === writer && line.event === event && line.session === session);
    await expect.poll(() => find("session", "compaction_failed")).not.toEqual([]);

    const named = [...find("queue", "summary_failed"), ...find("session", "compaction_failed")];
    expect(new Set(named.map((line) => `${toWriter(line)} ${line.request_id}`))).toEqual(new Set(["queue compacts", "session compacts"]));
  });
});
