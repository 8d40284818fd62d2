/**
 * The import of a recorded conversation over HTTP in workerd: the CPU of a message in batches of 1,000, beside one message a
 * request.
 */
import { setTimeout as delay } from "node:timers/promises";
import { z } from "zod";
import { callApi } from "../scripts/support/api-client.ts";
import { openSession, registerModel } from "./support/chat.ts";
import { type BenchResult, measured, ratio } from "./support/report.ts";
import type { Rig } from "./support/rig.ts";

const BATCH = 1_000;
const BATCHES = 5;
/** Messages of one sample, one a request. Fewer, because each of them costs many times more. */
const SINGLE = 200;
const SAMPLES = 3;
/** CPU of a message of a batch, in µs. */
const GOAL = 300;
const WINDOW = 128_000;
const POLL_MS = 250;

const toItem = (n: number): object => ({
  role: n % 2 ? "assistant" : "user",
  content: `message ${n} of a recorded conversation, as short as most of them are`,
  created_at: n,
});

const list = z.object({ data: z.array(z.object({ id: z.string(), message_count: z.number() })) });

/** Waits until the rows have followed, so that the projection of all messages is counted. */
async function untilListed(rig: Rig, { session, messages }: { readonly session: string; readonly messages: number }): Promise<void> {
  for (;;) {
    const { data } = list.parse(await callApi(rig.connection, { method: "GET", path: "/v1/sessions?limit=5" }));
    if (data.some(({ id, message_count }) => id === session && message_count === messages)) return;
    await delay(POLL_MS);
  }
}

export async function benchBatch(rig: Rig): Promise<BenchResult> {
  const model = await registerModel(rig, { chunks: 1, gap: 0 }, WINDOW);
  const send = (session: string, path: string, body: object): Promise<unknown> =>
    callApi(rig.connection, { method: "POST", path: `/v1/sessions/${session}/${path}`, body });
  const batches = async (session: string): Promise<void> => {
    for (let batch = 0; batch < BATCHES; batch++)
      await send(session, "messages/batch", { items: Array.from({ length: BATCH }, (_, n) => toItem(batch * BATCH + n)) });
  };
  const singles = async (session: string): Promise<void> => {
    for (let n = 0; n < SINGLE; n++) await send(session, "messages", { ...toItem(n), run: false });
  };
  const each = async (work: (session: string) => Promise<void>, messages: number): Promise<number> => {
    const session = await openSession(rig, model);
    const all = () => work(session).then(() => untilListed(rig, { session, messages }));
    return ((await rig.cpu.measure(all)) / messages) * 1_000_000;
  };
  await each(batches, BATCHES * BATCH); // compiled once
  const took = { batched: [] as number[], single: [] as number[] };
  for (let round = 0; round < SAMPLES; round++) {
    took.batched.push(await each(batches, BATCHES * BATCH));
    took.single.push(await each(singles, SINGLE));
  }
  const [batched, single] = [
    measured(`a message of ${BATCHES * BATCH} in batches of ${BATCH}, CPU`, "µs", took.batched, GOAL),
    measured("a message in a request of its own, CPU", "µs", took.single),
  ];
  return {
    title: "Import over HTTP in workerd",
    notes: [
      `One client, one request at a time; medians of ${SAMPLES} samples, each in a session of its own. All of workerd is counted: the Worker, the`,
      "object and its storage, and Miniflare's simulation of D1, until it has the rows of all messages.",
    ],
    figures: [batched, single, ratio("one a request against batches", [single, batched])],
  };
}
