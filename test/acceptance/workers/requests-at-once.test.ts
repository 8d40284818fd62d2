/**
 * Requests drawn from the OpenAPI document, several at once: each that writes goes out twice as it is and once more with other values, beside
 * writes of any other kind, about the same session. `request` holds each answer to the document. A failure prints the requests.
 */
import { beforeAll, describe, expect, inject, it } from "vitest";
import { drawn as countDrawn } from "../../support/effort";
import { Draw, mixSeed } from "../../support/fuzz/draw";
import { type DrawnRequest, type Operation, printRequest } from "../../support/fuzz/requests";
import { PATIENCE_MS } from "../../support/read-seed";
import { type FuzzedTenant, fuzzedOperations, OF_OTHERS, openFuzzedTenant, readAnswer, SECRET } from "../../workers/fuzzed-tenant";
import { readBody, request } from "../../workers/support";

const seed = inject("seed");
const ROUNDS = countDrawn(2);
const OTHERS = 3;
const [first, ...more] = fuzzedOperations.filter(({ method }) => method !== "GET" && method !== "HEAD");
if (!first) throw new Error("no operation writes");
const writes = [first, ...more] as const;

let fuzzed: FuzzedTenant;
const answered: Record<string, number> = {};
beforeAll(async () => {
  fuzzed = await openFuzzedTenant(seed);
}, PATIENCE_MS);

/** Null, or the request and what is wrong with its answer. */
async function send(sent: DrawnRequest): Promise<string | null> {
  const { method, path, headers, body } = sent;
  try {
    const response = await request(method, path, { headers, ...(body && { body }) });
    const kind = `${Math.floor(response.status / 100)}xx`;
    answered[kind] = (answered[kind] ?? 0) + 1;
    const text = await readAnswer(method, response);
    if (response.ok && path.startsWith("/v1/")) fuzzed.known.learn(new Draw(mixSeed(seed, path)), text);
    const told = fuzzed.secrets.some((secret) => text.includes(secret));
    if (told) return `The answer repeats a secret\n${printRequest(sent)}`;
    if (response.status < 500 || OF_OTHERS.has(JSON.parse(text).type)) return null;
    return `${response.status} ${text}\n${printRequest(sent)}`;
  } catch (error) {
    return `${error instanceof Error ? error.message : String(error)}\n${printRequest(sent)}`;
  }
}

/** What goes out at once. Twice the same one comes first. */
function drawBatch(operation: Operation, round: number): readonly DrawnRequest[] {
  const draw = new Draw(mixSeed(seed, "at once", operation.name, round));
  const nth = 1_000 + 10 * round;
  const twice = fuzzed.maker.make(operation, nth, SECRET);
  const others = Array.from({ length: OTHERS }, (_, index) => fuzzed.maker.make(draw.pick(writes), nth + 2 + index, SECRET));
  return [twice, twice, fuzzed.maker.make(operation, nth + 1, SECRET), ...others];
}

describe("requests at once are answered as the document says, and none is a defect", () => {
  it.each(writes.map((operation) => [operation.name, operation] as const))(
    "%s",
    async (_, operation) => {
      const failed: string[] = [];
      for (let round = 0; round < ROUNDS; round++) {
        const faults = await Promise.all(drawBatch(operation, round).map(send));
        failed.push(...faults.filter((fault) => fault !== null));
      }
      expect(failed).toEqual([]);
    },
    ROUNDS * PATIENCE_MS,
  );
});

it("a message is redacted by many requests at once, and the session still answers", async () => {
  const { chat } = fuzzed;
  const model = { provider: "openai-compatible", base_url: inject("standIn").baseUrl, context_window: 16_000, max_output: 1_000 };
  await readBody(await chat.tenant.call("PUT", `/v1/models/${chat.model.upstream}`, model));
  await chat.call("POST", "/stop", {});
  await readBody(await chat.call("PATCH", "", { model: chat.model.upstream, policy: "balanced", system: null, tools: [], generation: {} }));
  const said = await chat.say("Are you there?");
  const statuses = await Promise.all(
    [1, 2, 3, 4].map(async () => (await chat.call("POST", `/messages/${said.message_id}/redact`, {})).status),
  );

  expect(said).toMatchObject({ status: "completed" });
  expect(statuses).toEqual([200, 200, 200, 200]);
  expect(await chat.say("And now?")).toMatchObject({ status: "completed" });
  expect(answered["2xx"]).toBeGreaterThan(writes.length);
  console.info(`requests at once (seed ${seed}): ${JSON.stringify(answered)}`);
});
