/** What the outbox of webhooks costs: a turn of a tenant with no endpoint, one and ten, side by side. */
import { createServer, type Server } from "node:http";
import { callApi } from "../scripts/support/api-client.ts";
import { HOST } from "../scripts/support/port.ts";
import { openSession, registerModel, say, times } from "./support/chat.ts";
import { type BenchResult, type Figure, measured, ratio } from "./support/report.ts";
import type { Rig } from "./support/rig.ts";

const WINDOW = 128_000;
const TURNS = 20;
const SAMPLES = 5;
const ENDPOINTS = [0, 1, 10] as const;

/** Takes every delivery at once, and knows when so many have come. */
class Receiver {
  readonly #server: Server;
  #taken = 0;
  #wake: () => void = () => {};

  constructor() {
    this.#server = createServer((request, response) => {
      request.resume().once("end", () => {
        response.writeHead(204).end();
        this.#taken += 1;
        this.#wake();
      });
    });
  }

  async open(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, HOST, resolve));
    const address = this.#server.address();
    return `http://${HOST}:${typeof address === "object" ? address?.port : ""}/hooks`;
  }

  /** Resolves when so many more have come than before `work`. */
  async during(count: number, work: () => Promise<void>): Promise<void> {
    const last = this.#taken + count;
    await work();
    while (this.#taken < last)
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}

interface Subject {
  readonly endpoints: number;
  /** A rig whose calls are those of the subject's tenant. */
  readonly rig: Rig;
  readonly session: string;
  readonly cpu: number[];
  readonly time: number[];
}

async function prepare(rig: Rig, endpoints: number, url: string): Promise<Subject> {
  const own = { ...rig, connection: await rig.newTenant() };
  const body = { url, events: ["turn.completed"] };
  await times(endpoints, async () => void (await callApi(own.connection, { method: "POST", path: "/v1/webhook_endpoints", body })));
  const session = await openSession(own, await registerModel(own, { chunks: 20, gap: 0 }, WINDOW));
  return { endpoints, rig: own, session, cpu: [], time: [] };
}

/** The time is that of the turns, without deliveries that come behind them. The CPU is that of both. */
async function sample({ endpoints, rig, session, cpu, time }: Subject, receiver: Receiver): Promise<void> {
  const start = performance.now();
  const talk = async (): Promise<void> => {
    await times(TURNS, () => say(rig, session));
    time.push((performance.now() - start) / TURNS);
  };
  const seconds = await rig.cpu.measure(() => receiver.during(TURNS * endpoints, talk));
  cpu.push((seconds / TURNS) * 1_000);
}

const NAMES: Readonly<Record<number, string>> = { 0: "no endpoint", 1: "one endpoint", 10: "ten endpoints" };

function compare(subjects: readonly Subject[], what: "cpu" | "time"): Figure[] {
  const label = { cpu: "CPU with its deliveries", time: "time" }[what];
  const figures = subjects.map((subject) => measured(`a turn with ${NAMES[subject.endpoints]}, ${label}`, "ms", subject[what]));
  const [none, ...others] = figures;
  if (!none) return [];
  const ratios = others.map((figure, index) => ratio(`  ${NAMES[ENDPOINTS[index + 1] ?? 0]} against none`, [figure, none]));
  return [...figures, ...ratios];
}

export async function benchWebhooks(rig: Rig): Promise<BenchResult> {
  const receiver = new Receiver();
  const url = await receiver.open();
  try {
    const subjects: Subject[] = [];
    for (const endpoints of ENDPOINTS) subjects.push(await prepare(rig, endpoints, url));
    for (let round = 0; round <= SAMPLES; round++) for (const subject of subjects) await sample(subject, receiver);
    // The first round warms up.
    for (const { cpu, time } of subjects) for (const samples of [cpu, time]) samples.shift();
    return {
      title: "Webhooks",
      notes: [`Each endpoint is sent the end of each turn, and answers at once. Medians of ${SAMPLES} samples of ${TURNS} turns.`],
      figures: [...compare(subjects, "cpu"), ...compare(subjects, "time")],
    };
  } finally {
    receiver.close();
  }
}
