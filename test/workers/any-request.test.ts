/**
 * Requests drawn from the OpenAPI document itself, for every operation, sent to the real Worker. `request` holds each answer to the document.
 * `TEST_EFFORT=12` draws a hundred for each operation, and `TEST_SEED` draws others. A failure prints the request.
 */
import { beforeAll, describe, expect, inject, it } from "vitest";
import { drawn as countDrawn } from "../support/effort";
import { findInventedFields } from "../support/fuzz/check-refusal";
import { Draw, mixSeed } from "../support/fuzz/draw";
import { type DrawnRequest, type Operation, printRequest } from "../support/fuzz/requests";
import { PATIENCE_MS } from "../support/read-seed";
import { type FuzzedTenant, fuzzedOperations, OF_OTHERS, openFuzzedTenant, readAnswer, SECRET } from "./fuzzed-tenant";
import { readBody, request, toFrames } from "./support";

const seed = inject("seed");
/** For each operation: nearly valid, and at least one that is not. */
const REQUESTS = countDrawn(8, 2);

let chat: FuzzedTenant["chat"];
let known: FuzzedTenant["known"];
let maker: FuzzedTenant["maker"];
let secrets: FuzzedTenant["secrets"];
beforeAll(async () => {
  ({ chat, known, maker, secrets } = await openFuzzedTenant(seed));
}, PATIENCE_MS);
/** The operations that a request has passed. */
const succeeded = new Set<string>();
/** How many requests were answered with each class of status. */
const answered: Record<string, number> = {};
/** How many refusals came while the session was at rest, so that it could be seen that they added nothing. */
let watched = 0;

interface Problem {
  readonly type: string;
  readonly errors?: readonly { readonly field: string }[];
}

/** Null while something goes on in the session that may add events by itself. It asks the object, because it runs around every request. */
async function countAtRest(): Promise<number | null> {
  const { api, caller } = chat;
  const page = { after: null, limit: 1, order: "desc" } as const;
  const [described, compactions, events] = await Promise.all([
    api.describe(caller),
    api.compactions(caller, page),
    api.events(caller, page),
  ]);
  if (!described.ok || !compactions.ok || !events.ok) throw new Error("the session of the test is gone");
  const { turn, queued, title } = described.value;
  const isWorking = turn !== null || queued.length > 0 || title === null || WORKING.has(compactions.value.data[0]?.status ?? "");
  return isWorking ? null : (events.value.data[0]?.seq ?? 0);
}
const WORKING: ReadonlySet<string> = new Set(["requested", "running"]);

/** A request that was refused has changed nothing: the session has as many events as before. */
async function findChange(before: number | null, status: number): Promise<readonly string[]> {
  if (before === null || status < 400 || status >= 500) return [];
  const after = await countAtRest();
  watched += 1;
  return after === before ? [] : [`${status}, and the session has ${after} events after ${before}`];
}

/** The names of its secrets are on the page of the channel's type, not in the document. */
const PUT_CHANNEL = "PUT /v1/channels/{channel_name}";

/** What is wrong with the answer. Empty: nothing. */
async function findFaults(operation: Operation, sent: DrawnRequest): Promise<readonly string[]> {
  const { method, path, headers, body } = sent;
  const before = await countAtRest();
  const response = await request(method, path, { headers, ...(body && { body }) });
  const kind = `${Math.floor(response.status / 100)}xx`;
  answered[kind] = (answered[kind] ?? 0) + 1;
  const text = await readAnswer(method, response);
  // The ids in the document are examples of nothing that exists.
  if (response.ok && path.startsWith("/v1/")) known.learn(new Draw(mixSeed(seed, path)), text);
  if (response.ok) succeeded.add(operation.name);
  const faults = secrets.filter((secret) => text.includes(secret)).map((secret) => `The answer repeats ${secret}`);
  faults.push(...(await findChange(before, response.status)));
  if (response.status < 400 || method === "HEAD") return faults;
  const { type, errors = [] }: Problem = JSON.parse(text);
  if (response.status >= 500 && !OF_OTHERS.has(type)) faults.push(`${response.status} ${type}`);
  if (type !== "urn:longhand:problem:invalid_request" || isOfOtherAddress(sent)) return faults;
  const fields = errors.map(({ field }) => field);
  const described = fields.filter((field) => !(operation.name === PUT_CHANNEL && field.startsWith("credentials.")));
  const invented = findInventedFields(described, { operation, sent, known });
  return [
    ...faults,
    ...(fields.length === 0 ? [`The refusal names no field: ${text}`] : []),
    ...invented.map((field) => `The field ${JSON.stringify(field)} is neither in the request nor in the document`),
  ];
}

/** Whether the URL standard makes another address of the drawn one: a parameter that is `..` or `%2e%2e` removes the part before it. */
const isOfOtherAddress = ({ path }: DrawnRequest): boolean =>
  new URL(path, "http://longhand.test").pathname.split("/").length !== path.replace(/\?.*/s, "").split("/").length;

/** Null, or the request and what is wrong with its answer. */
async function tryRequest(operation: Operation, nth: number): Promise<string | null> {
  const drawn = maker.make(operation, nth, SECRET);
  // Operations that have no stream answer with JSON all the same.
  const asStream = operation.method === "POST" && nth % 2 === 0;
  const sent = asStream ? { ...drawn, headers: { ...drawn.headers, accept: "text/event-stream" } } : drawn;
  const faults = await findFaults(operation, sent).catch((error: unknown) => [error instanceof Error ? error.message : String(error)]);
  return faults.length === 0 ? null : `${faults.join("\n")}\nrequest ${nth} of seed ${seed}: ${printRequest(sent)}`;
}

describe("any request is answered as the document says", () => {
  it.each(fuzzedOperations.map((operation) => [operation.name, operation] as const))(
    "%s",
    async (_, operation) => {
      const failed: string[] = [];
      for (let nth = 0; nth < REQUESTS; nth++) {
        const fault = await tryRequest(operation, nth);
        if (fault !== null) failed.push(fault);
      }
      expect(failed).toEqual([]);
    },
    REQUESTS * PATIENCE_MS,
  );
});

it("a refusal adds nothing to the session that it is about", () => {
  const count = Object.values(answered).reduce((sum, one) => sum + one, 0);
  console.info(
    `${count} requests (seed ${seed}): ${JSON.stringify(answered)}; ${watched} refusals of a session at rest, none added an event`,
  );
  expect(watched).toBeGreaterThan(count / 20);
});

it("most operations let a request pass, so that more than their first check is tried", () => {
  expect(succeeded.size).toBeGreaterThan(fuzzedOperations.length / 2);
});

it("every frame and event of the session that all of them used is as the document says", async () => {
  const { stream_offset } = await chat.describe();
  const frames = await chat.listen(0);
  while ((await frames.next()).offset < stream_offset);
  await frames.leave();
  const last = (await chat.read<{ data: readonly { seq: number }[] }>("/events?order=desc&limit=1")).data[0]?.seq ?? 0;
  const events = toFrames(await chat.call("GET", "/events?after=0", undefined, { accept: "text/event-stream" }));
  while ((await events.next()).offset < last);
  await events.leave();

  // A redaction may have taken all frames but the newest.
  expect(frames.seen.length).toBeGreaterThan(0);
  expect(events.seen.length).toBeGreaterThan(10);
});

it("the session that all of them used still answers a message", async () => {
  const model = { provider: "openai-compatible", base_url: inject("standIn").baseUrl, context_window: 16_000, max_output: 1_000 };
  await readBody(await chat.tenant.call("PUT", `/v1/models/${chat.model.upstream}`, model));
  await chat.call("POST", "/stop", {});
  await readBody(await chat.call("PATCH", "", { model: chat.model.upstream, policy: "balanced", system: null, tools: [], generation: {} }));

  expect(await chat.say("Are you there?")).toMatchObject({ status: "completed" });
});
