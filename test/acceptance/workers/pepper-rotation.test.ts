/** A deployment that takes another pepper while keys, tokens, signed addresses and sealed items are in use (docs/operations.md). */
import { createExecutionContext, listDurableObjectIds, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { tenantObjectName } from "../../../src/app/object-name";
import type { FileView } from "../../../src/contract/file";
import type { Env } from "../../../src/env";
import worker from "../../../src/index";
import { generateApiKey } from "../../../src/tenant/keys/api-key";
import { advanceClock } from "../../workers/clock";
import { text } from "../../workers/files";
import { type Chat, migrate, newChat, newId, readBody } from "../../workers/support";

beforeAll(migrate);

const HOUR = 3_600_000;
const [OLD, NEW] = [env.KEY_PEPPER ?? "", "a-new-pepper-for-tests-only"];

type Peppers = Pick<Env, "KEY_PEPPER" | "KEY_PEPPER_PREVIOUS" | "KEY_PEPPER_PREVIOUS_UNTIL">;

/** The configurations of a rotation, in their order. */
interface Rotation {
  readonly before: Peppers;
  /** The new pepper is accepted, and nothing is made under it. */
  readonly announced: Peppers;
  readonly switched: Peppers;
  readonly after: Peppers;
}

function planRotation(hours: number): Rotation {
  const KEY_PEPPER_PREVIOUS_UNTIL = new Date(Date.now() + hours * HOUR).toISOString();
  return {
    before: { KEY_PEPPER: OLD },
    announced: { KEY_PEPPER: OLD, KEY_PEPPER_PREVIOUS: NEW, KEY_PEPPER_PREVIOUS_UNTIL },
    switched: { KEY_PEPPER: NEW, KEY_PEPPER_PREVIOUS: OLD, KEY_PEPPER_PREVIOUS_UNTIL },
    after: { KEY_PEPPER: NEW, KEY_PEPPER_PREVIOUS_UNTIL },
  };
}

interface Asked {
  readonly key?: string;
  readonly body?: unknown;
}

/** A request to an isolate with these peppers. */
async function ask(peppers: Peppers, method: string, path: string, { key, body }: Asked = {}): Promise<Response> {
  const headers = { "content-type": "application/json", ...(key !== undefined && { authorization: `Bearer ${key}` }) };
  const sent = body instanceof Uint8Array ? body : JSON.stringify(body);
  const request = new Request<unknown, IncomingRequestCfProperties>(`https://longhand.test${path}`, {
    method,
    headers: body instanceof Uint8Array ? { ...headers, "content-type": "text/plain", "content-length": String(body.length) } : headers,
    ...(body !== undefined && { body: sent }),
  });
  return worker.fetch(request, { ...env, ...peppers }, createExecutionContext());
}

/** What a tenant's clients hold. */
interface Held {
  readonly key: string;
  readonly token: string;
  /** A path that reads a file. */
  readonly address: string;
  /** An item that holds a compacted conversation. */
  readonly sealed: object;
}

const makeKey = async (peppers: Peppers, { tenant }: Chat): Promise<{ readonly id: string; readonly key: string }> =>
  readBody(await ask(peppers, "POST", "/v1/keys", { key: tenant.key, body: { name: "made" } }), 201);

async function makeAll(peppers: Peppers, chat: Chat): Promise<Held> {
  const { key } = await makeKey(peppers, chat);
  const { token } = await readBody<{ token: string }>(
    await ask(peppers, "POST", "/v1/tokens", { key, body: { session_id: chat.id, expires_in: 86_400 } }),
    201,
  );
  const file = await readBody<FileView>(await ask(peppers, "POST", "/v1/files", { key, body: text("hello") }), 201);
  const signing = await ask(peppers, "POST", `/v1/files/${file.id}/url`, { key, body: { expires_in: 86_400 } });
  const { url } = await readBody<{ url: string }>(signing);
  await chat.model.script({ summaries: [{ text: "They spoke." }] });
  const input = Array.from({ length: 8 }, (_, index) => ({ role: index % 2 === 0 ? "user" : "assistant", content: "Words. ".repeat(400) }));
  const compacting = await ask(peppers, "POST", "/v1/responses/compact", { key, body: { model: chat.model.upstream, input } });
  const { output } = await readBody<{ output: readonly { type: string }[] }>(compacting);
  const sealed = output.find(({ type }) => type === "compaction");
  if (!sealed) throw new Error("The conversation was not compacted");
  return { key, token, address: url.slice("https://longhand.test".length), sealed };
}

/** The statuses of a request with each of them. */
async function useAll(peppers: Peppers, chat: Chat, { key, token, address, sealed }: Held): Promise<Readonly<Record<keyof Held, number>>> {
  const counting = { model: chat.model.upstream, input: [sealed, { role: "user", content: "And now?" }] };
  return {
    key: await readKeyStatus(peppers, key),
    token: await readStatus(ask(peppers, "GET", `/v1/sessions/${chat.id}`, { key: token })),
    address: await readStatus(ask(peppers, "GET", address)),
    sealed: await readStatus(ask(peppers, "POST", "/v1/responses/input_tokens", { key, body: counting })),
  };
}

async function readStatus(asking: Promise<Response>): Promise<number> {
  const response = await asking;
  await response.text();
  return response.status;
}

const readKeyStatus = (peppers: Peppers, key: string): Promise<number> => readStatus(ask(peppers, "GET", "/v1/tenant", { key }));

const GOOD = { key: 200, token: 200, address: 200, sealed: 200 };

describe("while the pepper is rotated", () => {
  it("everything from before is accepted, and everything new, by isolates that have heard of the next step and by those that have not", async () => {
    const chat = await newChat();
    const { before, announced, switched } = planRotation(25);
    const old = await makeAll(before, chat);

    for (const peppers of [before, announced, before, announced]) expect(await useAll(peppers, chat, old)).toEqual(GOOD);
    const [first, last] = [await makeAll(announced, chat), await makeAll(switched, chat)];
    for (const peppers of [announced, switched, announced, switched]) {
      for (const held of [old, first, last]) expect(await useAll(peppers, chat, held)).toEqual(GOOD);
      // An isolate asks again, and finds the key under the hash that another one has stored.
      advanceClock(31_000);
    }
  });

  it("a key that is used is stored under its new hash", async () => {
    const chat = await newChat();
    const { switched } = planRotation(1);
    const stub = env.TENANTS.getByName(tenantObjectName(chat.tenant.id));
    const readHashes = () => runInDurableObject(stub, (_, state) => state.storage.sql.exec("SELECT hash FROM keys").toArray());
    const before = await readHashes();

    await readKeyStatus(switched, chat.tenant.key);

    const [stored] = await readHashes();
    expect(stored).not.toEqual(before[0]);
    expect(await readHashes()).toHaveLength(1);
  });

  it("a well-formed key that neither pepper made costs no object", async () => {
    const chat = await newChat();
    const { switched } = planRotation(1);
    const environment = chat.tenant.key.split("_")[1] ?? "";
    const before = await listDurableObjectIds(env.TENANTS);

    for (let n = 0; n < 20; n++) {
      const key = await generateApiKey({ env: environment, tenant: newId("ten") }, "another deployment's pepper");
      expect(await readKeyStatus(switched, key)).toBe(401);
    }

    expect(await listDurableObjectIds(env.TENANTS)).toEqual(before);
  });
});

describe("after the end of the old pepper", () => {
  it("what it signed and sealed is refused, and so is a key that was not used meanwhile", async () => {
    const chat = await newChat();
    const { before, switched } = planRotation(1);
    const [used, unused] = [await makeAll(before, chat), await makeAll(before, chat)];
    const young = await makeAll(switched, chat);
    expect(await useAll(switched, chat, used)).toEqual(GOOD);

    advanceClock(HOUR);

    expect(await useAll(switched, chat, used)).toEqual({ key: 200, token: 401, address: 403, sealed: 400 });
    expect(await useAll(switched, chat, unused)).toEqual({ key: 401, token: 401, address: 403, sealed: 401 });
    expect(await useAll(switched, chat, young)).toEqual(GOOD);
  });

  it("keys that it made end when it is removed, and their successors stay", async () => {
    const chat = await newChat();
    const { before, switched, after } = planRotation(1);
    const old = await makeKey(before, chat);
    const next = await readBody<{ key: string }>(await ask(switched, "POST", `/v1/keys/${old.id}/rotate`, { key: old.key, body: {} }), 201);

    advanceClock(HOUR);

    const statuses = (peppers: Peppers) => Promise.all([old, next].map(({ key }) => readKeyStatus(peppers, key)));
    expect(await statuses(switched)).toEqual([200, 200]);
    // The isolates of a deployment remember nothing of the one before.
    advanceClock(31_000);
    expect(await statuses(after)).toEqual([401, 200]);
  });
});
