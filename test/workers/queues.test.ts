/** The names that a deployment chooses: those of its queues, and the environment in its keys. */
import { createExecutionContext, createMessageBatch, getQueueResult } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeAll, expect, it } from "vitest";
import worker from "../../src/index";
import { migrate, newChat } from "./support";

beforeAll(migrate);

it("a message of the dead-letter queue that the deployment names is acknowledged, not asked for again", async () => {
  const batch = createMessageBatch("another-dead", [{ id: "q-1", timestamp: new Date(), attempts: 1, body: { broken: true } }]);
  const context = createExecutionContext();
  // Also when another variable is invalid.
  await worker.queue(batch, { ...env, DEAD_LETTER_QUEUE: "another-dead", MODELS: "{" }, context);
  expect(await getQueueResult(batch, context)).toMatchObject({ explicitAcks: ["q-1"], retryMessages: [] });
});

it("a key stays valid when the deployment's environment is renamed", async () => {
  const { tenant } = await newChat({});
  const ask = (ENVIRONMENT: string): Promise<Response> => {
    const headers = { authorization: `Bearer ${tenant.key}` };
    const request = new Request<unknown, IncomingRequestCfProperties>("https://longhand.test/v1/tenant", { headers });
    return worker.fetch(request, { ...env, ENVIRONMENT }, createExecutionContext());
  };
  expect(tenant.key).toMatch(/^lh_dev_/);
  expect((await ask("dev")).status).toBe(200);
  expect((await ask("production")).status).toBe(200);
});
