/** Long work gives way: a server answers others while it works on a long session. One thread does both. */
import { expect, test } from "vitest";
import { z } from "zod";
import { type Connection, callApi, type Method } from "../../../scripts/support/api-client";
import { createTenant } from "../../../scripts/support/connection";
import { useSharedServer } from "../../support/shared-server";

const MESSAGES = 6_000;
/** The messages of one request. */
const BATCH = 1_000;
const LIMIT_MS = 180_000;

let connection: Connection;
let admin: Connection;
/** Another tenant, which has none of the sessions. */
let other: Connection;

const askAs = (caller: Connection, method: Method, path: string, body?: unknown): Promise<unknown> =>
  callApi(caller, { method, path, ...(body !== undefined && { body }) });
const ask = (method: Method, path: string, body?: unknown): Promise<unknown> => askAs(connection, method, path, body);

const named = z.object({ id: z.string() });
const listed = z.object({ data: z.array(named) });
const exported = z.object({ id: z.string(), status: z.string(), download_url: z.string().nullable() });

const open = async (): Promise<string> => named.parse(await ask("POST", "/v1/sessions", {})).id;

async function openLong(): Promise<string> {
  const session = await open();
  for (let from = 0; from < MESSAGES; from += BATCH) {
    const items = Array.from({ length: BATCH }, (_, n) => ({
      role: n % 2 ? "assistant" : "user",
      content: Array.from({ length: 20 }, (__, word) => `word${((from + n) * 7 + word * 13) % 4_000}`).join(" "),
    }));
    await ask("POST", `/v1/sessions/${session}/messages/batch`, { items });
  }
  return session;
}

/** How often others were answered whose requests were sent after the work had begun, before the work was. */
async function countAnswered(work: Promise<unknown>, request: () => Promise<unknown>): Promise<number> {
  let isOver = false;
  const over = work.finally(() => {
    isOver = true;
  });
  let answered = 0;
  while (!isOver) {
    await request();
    if (!isOver) answered += 1;
  }
  await over;
  return answered;
}

/** Work that takes a fifth of a second is done three times: on a busy machine others may ask too seldom to meet it once. */
const thrice =
  (work: (session: string, time: number) => Promise<unknown>) =>
  async (session: string): Promise<void> => {
    for (let time = 0; time < 3; time++) await work(session, time);
  };

const WORK: Readonly<Record<string, (session: string) => Promise<unknown>>> = {
  fork: (session) => ask("POST", `/v1/sessions/${session}/fork`, {}),
  evaluation: (session) => ask("POST", "/v1/policies/evaluate", { session, policy: "balanced" }),
  "search of the record": (session) => ask("POST", `/v1/sessions/${session}/recall`, { query: "word7 word20" }),
  export: thrice(async (session) => {
    const { id } = named.parse(await ask("POST", "/v1/exports", { of: "session", session_id: session }));
    while (exported.parse(await ask("GET", `/v1/exports/${id}`)).status === "running");
  }),
  import: async (session) => {
    const [made] = z.object({ data: z.array(exported) }).parse(await ask("GET", "/v1/exports")).data;
    const file = await fetch(made?.download_url ?? "").then((answer) => answer.arrayBuffer());
    const headers = { authorization: `Bearer ${other.key}`, "content-type": "application/jsonl" };
    const answer = await fetch(`${other.url}/v1/imports`, { method: "POST", headers, body: file });
    expect(await answer.json()).toMatchObject({ sessions: [{ id: session, status: "restored" }] });
  },
  "rebuild of the rows": thrice(async (session) => {
    const { id } = named.parse(await ask("GET", "/v1/tenant"));
    await askAs(admin, "POST", `/v1/admin/tenants/${id}/sessions/${session}/rebuild`);
  }),
  redaction: thrice(async (session, time) => {
    const messages = listed.parse(await ask("GET", `/v1/sessions/${session}/messages?limit=3`)).data;
    await ask("POST", `/v1/sessions/${session}/messages/${messages[time]?.id}/redact`);
  }),
  erasure: (session) => ask("DELETE", `/v1/sessions/${session}`),
};

const erased = z.object({ erasure_id: z.string(), stores: z.array(z.object({ store: z.string(), status: z.string() })) });

/** The session was hidden by the first request, and each further one removes a part of what is left. */
async function endErasure(session: string): Promise<void> {
  expect(listed.parse(await ask("GET", "/v1/sessions")).data.map(({ id }) => id)).not.toContain(session);
  const most = MESSAGES / BATCH;
  const find = async () => erased.parse(await ask("DELETE", `/v1/sessions/${session}`));
  let receipt = await find();
  for (let asked = 1; asked < most && receipt.stores.some(({ status }) => status === "pending"); asked++) receipt = await find();
  expect(receipt.stores.map(({ status }) => status)).toEqual(receipt.stores.map(() => "erased"));
  expect(await ask("GET", `/v1/erasures/${receipt.erasure_id}`)).toMatchObject({ status: "done", sessions: { total: 1, done: 1 } });
}

test(
  "the service and other sessions are answered during each long work on a session; and its erasure comes to its end",
  async () => {
    const { url, adminKey } = await useSharedServer();
    admin = { url, key: adminKey };
    [connection, other] = [await createTenant(url, adminKey), await createTenant(url, adminKey)];
    const [session, another] = [await openLong(), await open()];
    const askOthers = () => Promise.all([fetch(`${url}/healthz`).then((answer) => answer.text()), ask("GET", `/v1/sessions/${another}`)]);

    const answered: Record<string, number> = {};
    for (const [name, work] of Object.entries(WORK)) answered[name] = await countAnswered(work(session), askOthers);

    for (const [name, count] of Object.entries(answered)) expect(count, name).toBeGreaterThan(1);
    await endErasure(session);
  },
  LIMIT_MS,
);
