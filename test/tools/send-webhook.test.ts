/** One try of a webhook: its signature, its address, and receivers that misbehave over HTTP. */
import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { SendWebhook, WebhookOrder } from "../../src/app/webhook-api";
import { startTimer } from "../../src/lib/timer";
import { generateWebhookSecret } from "../../src/lib/webhook-signature";
import { createToolFetch, type SafeFetch } from "../../src/tools/safe-fetch";
import { createWebhookSender } from "../../src/tools/send-webhook";
import { FakeSchedule } from "../support/fake-schedule";
import { type ReceivedHook, type ScriptedAnswer, startWebhookReceiver, type WebhookReceiver } from "../support/webhook-receiver";
import { makeId } from "../tenant/support";
import { Network, redirect } from "./fake-network";

const SECRETS = [generateWebhookSecret(), generateWebhookSecret()];
const order: WebhookOrder = {
  url: "https://example.com/hooks",
  event: makeId("evt", 1),
  body: JSON.stringify({ type: "turn.completed", data: { id: makeId("trn", 1), note: "Zürich 東京" } }),
  secrets: SECRETS.map((sealed) => ({ kid: "k", wrapped_key: "w", sealed })),
  place: "webhook/whk",
};

const newSender = (fetch: SafeFetch, schedule = startTimer): SendWebhook =>
  createWebhookSender({ fetch, openSecret: async ({ sealed }) => (sealed === "lost" ? null : sealed), schedule, now: Date.now });

let receiver: WebhookReceiver;
beforeAll(async () => {
  receiver = await startWebhookReceiver();
});
afterAll(() => receiver.close());

const local = createToolFetch({ fetch: (url, init) => fetch(url, init), now: Date.now, allowPrivate: true });
let count = 0;

/** Sends once to a mailbox with this script, and says what came of it and what came. */
async function send(answer: ScriptedAnswer, { schedule = startTimer, more = {} as Partial<WebhookOrder> } = {}) {
  const name = `mailbox-${++count}`;
  const control = `${receiver.url}/control/${name}`;
  await fetch(control, { method: "POST", body: JSON.stringify([answer]) });
  const sent = newSender(local, schedule)({ ...order, url: `${receiver.url}/hooks/${name}`, ...more });
  const received = async (atLeast: number): Promise<readonly ReceivedHook[]> => (await fetch(`${control}?at_least=${atLeast}`)).json();
  return { sent, received };
}

describe("a try", () => {
  it("is signed by each secret, so that a receiver with either verifies it", async () => {
    const { sent, received } = await send({ body: "thanks" });

    expect(await sent).toEqual({ status: 200, failure: null, answer: "thanks" });
    const [{ headers, body } = { headers: {}, body: "" }] = await received(1);
    expect(body).toBe(order.body);
    expect(headers["webhook-id"]).toBe(order.event);
    for (const secret of SECRETS) expect(new Webhook(secret).verify(body, headers)).toEqual(JSON.parse(order.body));
    expect(() => new Webhook(generateWebhookSecret()).verify(body, headers)).toThrow();
  });

  it("is not made when no secret can be opened", async () => {
    const network = new Network();
    const answer = await newSender(network.fetch)({ ...order, secrets: [{ kid: "k", wrapped_key: "w", sealed: "lost" }] });

    expect([answer, network.sent]).toEqual([{ status: null, failure: "secret_unavailable", answer: null }, []]);
  });

  it("takes only 2xx for a success, and keeps the first 4,096 bytes of an answer", async () => {
    const { sent } = await send({ status: 503, body: "x".repeat(10_000) });

    expect(await sent).toEqual({ status: 503, failure: "status", answer: "x".repeat(4_096) });
  });
});

describe("a receiver", () => {
  it("that hangs is given up after 15 seconds", async () => {
    const time = new FakeSchedule();
    const { sent, received } = await send({ how: "hang" }, { schedule: time.schedule });
    await received(1);
    time.advance(14_999);
    expect(await Promise.race([sent, Promise.resolve("still waiting")])).toBe("still waiting");
    time.advance(1);

    expect(await sent).toEqual({ status: null, failure: "timeout", answer: null });
  });

  it("whose answer never ends has said by its status that it took the event", async () => {
    const time = new FakeSchedule();
    const asked = Promise.withResolvers<void>();
    const endless = new ReadableStream({
      start: (controller) => controller.enqueue(new TextEncoder().encode("first words")),
      pull: () => asked.resolve(),
    });
    const network = new Network({ answers: { [order.url]: () => new Response(endless) } });
    const sent = newSender(network.fetch, time.schedule)(order);
    await asked.promise;
    time.advance(15_000);

    expect(await sent).toEqual({ status: 200, failure: null, answer: "first words" });
  });

  it("that closes the connection is unreachable", async () => {
    const { sent } = await send({ how: "close" });

    expect(await sent).toEqual({ status: null, failure: "unreachable", answer: null });
  });

  it("that redirects is a failure, and no redirect is followed", async () => {
    const network = new Network({ answers: { [order.url]: redirect("http://169.254.169.254/latest", 307) } });

    expect(await newSender(network.fetch)(order)).toMatchObject({ status: 307, failure: "status" });
    expect(network.sent.map(({ url }) => url)).toEqual([order.url]);
  });
});

describe("an address", () => {
  it.each(["http://127.0.0.1/hooks", "https://10.0.0.1/", "https://[::1]/", "https://localhost/", "https://metadata.google.internal/"])(
    "that is private is never called: %s",
    async (url) => {
      const network = new Network();

      expect(await newSender(network.fetch)({ ...order, url })).toEqual({ status: null, failure: "refused_address", answer: null });
      expect(network.sent).toEqual([]);
    },
  );

  it("whose name leads to a private one only at the second try is refused there", async () => {
    const network = new Network({ names: { "example.com": [["93.184.216.34"], ["169.254.169.254"]] } });
    const sender = newSender(network.fetch);

    expect((await sender(order)).failure).toBeNull();
    expect((await sender(order)).failure).toBe("refused_address");
    expect(network.sent).toHaveLength(1);
  });
});
