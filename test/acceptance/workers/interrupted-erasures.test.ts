/** Every object dies behind each single step of each kind of erasure. The erasure finishes by itself, once, with a full receipt. */
import { abortAllDurableObjects, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeAll, expect, it, vi } from "vitest";
import { tenantObjectName } from "../../../src/app/object-name";
import type { ErasureView } from "../../../src/contract/erasure";
import { parseId } from "../../../src/domain/ids";
import { sized } from "../../support/effort";
import { ringErasures } from "../../workers/alarms";
import { png, upload } from "../../workers/files";
import { Chat, migrate, newChat, readBody, readStorage, request, TABLES, type Tenant } from "../../workers/support";

beforeAll(migrate);
afterEach(() => vi.restoreAllMocks());

let planted = 0;
const USER = "ada";
const ADMIN = { key: env.ADMIN_KEY ?? "" };

const tenantStub = (tenant: Tenant) => env.TENANTS.getByName(tenantObjectName(tenant.id));

/** A session with a file and an answer of a model, and a fork of it. */
async function plant(mark: string): Promise<readonly [Chat, Chat]> {
  const chat = await newChat({ system: `${mark}-system`, replies: [{ text: `${mark}-reply` }] });
  await readBody(await chat.call("PATCH", "", { end_user: USER, title: `${mark}-title` }));
  await readBody(await chat.send(`${mark}-question`));
  const { id: file } = await upload(chat.tenant, png(mark));
  const content = [{ type: "image", file_id: file }];
  await chat.call("POST", "/messages", { content, run: false });
  const { id } = await readBody<{ id: string }>(await chat.call("POST", "/fork"), 201);
  const fork = parseId("ses", id);
  if (!fork) throw new Error("no id");
  return [chat, new Chat(chat.tenant, fork, chat.model)];
}

/** What was passed, and whether the object is to die there. The step behind which it dies never returns. */
interface Death {
  steps: number;
  reached: boolean;
}

/** Every step that leaves an object: to D1 and to the bucket. */
function dieBehind(step: number): Death {
  const death: Death = { steps: 0, reached: false };
  const pass = async <T>(work: Promise<T>): Promise<T> => {
    const done = await work;
    if (death.reached) return new Promise<never>(() => {});
    death.steps += 1;
    if (death.steps !== step) return done;
    death.reached = true;
    return new Promise<never>(() => {});
  };
  const batch = env.DB.batch.bind(env.DB);
  vi.spyOn(env.DB, "batch").mockImplementation(<T>(statements: D1PreparedStatement[]) => pass(batch<T>(statements)));
  const { FILES } = env;
  if (!FILES) throw new Error("no bucket");
  const remove = FILES.delete.bind(FILES);
  vi.spyOn(FILES, "delete").mockImplementation((keys) => pass(remove(keys)));
  return death;
}

const KINDS = {
  session: { sessions: 1, ask: (chat: Chat) => chat.call("DELETE") },
  "session with forks": { sessions: 2, ask: (chat: Chat) => chat.call("DELETE", "?forks=true") },
  "end user": { sessions: 2, ask: (chat: Chat) => chat.tenant.call("DELETE", `/v1/end-users/${USER}`) },
  tenant: { sessions: 2, ask: (chat: Chat) => request("DELETE", `/v1/admin/tenants/${chat.tenant.id}`, ADMIN) },
} as const;
type Kind = keyof typeof KINDS;

/** The tenant's only erasure, as the object has it. */
async function readErasures(tenant: Tenant): Promise<readonly string[]> {
  return runInDurableObject(tenantStub(tenant), (_, { storage }) =>
    storage.sql
      .exec<{ id: string }>("SELECT id FROM erasure_receipts")
      .toArray()
      .map(({ id }) => id),
  );
}

async function readErasure(kind: Kind, tenant: Tenant, id: string): Promise<ErasureView> {
  const path = `/v1/admin/tenants/${tenant.id}/erasures/${id}`;
  return readBody<ErasureView>(await (kind === "tenant" ? request("GET", path, ADMIN) : tenant.call("GET", `/v1/erasures/${id}`)));
}

async function ringOut(tenant: Tenant): Promise<void> {
  for (let rings = 0; rings < 3; rings++) await ringErasures(tenant);
}

/** The alarm may take the work before the request does, which then answers before all of it is done. */
async function workOff(tenant: Tenant, asked: Promise<Response>): Promise<void> {
  await asked;
  await ringOut(tenant);
}

async function findMarks(mark: string, chats: readonly Chat[]): Promise<readonly string[]> {
  const found: string[] = [];
  const tables = await env.DB.prepare(`${TABLES} AND name <> 'd1_migrations'`).all<{ name: string }>();
  for (const { name } of tables.results) {
    const { results } = await env.DB.prepare(`SELECT * FROM "${name}"`).all();
    if (JSON.stringify(results).includes(mark)) found.push(name);
  }
  for (const chat of chats) if ((await readStorage(chat.stub)).includes(mark)) found.push(chat.id);
  return found;
}

/** Erases with a death behind the step. Returns whether there was such a step. */
async function eraseWithDeath(kind: Kind, step: number): Promise<boolean> {
  const mark = `PLANTED${++planted}x`;
  const chats = await plant(mark);
  const [chat] = chats;
  const { tenant } = chat;
  const { ask, sessions } = KINDS[kind];
  const death = dieBehind(step);
  let isOver = false;
  const worked = workOff(tenant, ask(chat))
    .catch((error: unknown) => {
      if (!death.reached) throw error;
    })
    .finally(() => {
      isOver = true;
    });
  // Polled: what a step of an object resolves would go on inside that object, and abort itself.
  await vi.waitUntil(() => isOver || death.reached, { timeout: 10_000, interval: 1 });
  vi.restoreAllMocks();
  if (death.reached) await abortAllDurableObjects();
  await worked;

  // A request that died before its note is sent again, as its client would.
  if ((await readErasures(tenant)).length === 0) await readBody(await ask(chat));
  const [erasure, ...others] = await readErasures(tenant);
  await ringOut(tenant);

  const receipt = await readErasure(kind, tenant, erasure ?? "");
  expect([others, await readErasures(tenant)]).toEqual([[], [erasure]]);
  expect(receipt).toMatchObject({ status: "done", sessions: { total: sessions, done: sessions } });
  expect(receipt.stores.filter(({ status }) => status === "pending")).toEqual([]);
  const gone = kind === "session" ? [chat] : chats;
  const usage = await env.DB.prepare("SELECT sum(calls) AS calls FROM erased_usage WHERE session_id = ?").bind(chat.id).all();
  expect(usage.results).toEqual([{ calls: 1 }]);
  if (kind === "session") await readBody(await chats[1].call("DELETE"));
  expect(await findMarks(mark, gone)).toEqual([]);
  const kept = await env.FILES?.list({ prefix: `${tenant.id}/` });
  expect(kept?.objects).toEqual([]);
  return death.reached;
}

/** Every step, or every third. */
const STRIDE = sized({ whole: 1, small: 3 });

it.each<[Kind, number]>([
  ["session", 3],
  ["session with forks", 8],
  ["end user", 9],
  ["tenant", 9],
])(
  "the erasure of a %s finishes once when every object dies behind any of its steps",
  async (kind, most) => {
    let step = 1;
    while (await eraseWithDeath(kind, step)) step += STRIDE;

    expect(step).toBeGreaterThan(most);
  },
  120_000,
);
