/**
 * What limits and budgets cost: the CPU of a turn of a tenant with both beside one without, and the throughput of 1,000 sessions of one limited tenant
 * beside 1,000 sessions of as many limited tenants.
 */
import type { Connection } from "../scripts/support/api-client.ts";
import type { Budget, LimitSet } from "../src/contract/limits.ts";
import { openSession, registerModel, say, times } from "./support/chat.ts";
import { type BenchResult, measured, ratio } from "./support/report.ts";
import type { Rig } from "./support/rig.ts";

const WINDOW = 128_000;
const TURNS = 40;
const SAMPLES = 7;
const SESSIONS = 1_000;
const ROUNDS = 3;
/** How many requests prepare the tenants at a time. */
const PREPARING = 20;
const CPU_GOAL = 1.1;
/** At least 0.9 of the throughput. */
const TIME_GOAL = 1.11;

const MANY = 10_000_000;
const each = { requests_per_minute: MANY, model_calls_per_minute: MANY, concurrent_turns: MANY, concurrent_streams: MANY };
/** Limits that refuse nothing, so that only their counting is measured. */
const LIMITS: LimitSet = { tenant: { ...each, sessions: MANY, files: MANY }, key: each, end_user: each };

const budget = { period: "month", unit: "usd", amount: MANY, purposes: "all" } as const;
/** Budgets that refuse nothing, so that only reserving, settling and renewing are measured. */
const BUDGETS: readonly Budget[] = [
  { ...budget, name: "tenant", of: "tenant" },
  { ...budget, name: "tokens", of: "tenant", period: "day", unit: "tokens", amount: MANY * 1_000 },
  { ...budget, name: "session", of: "session" },
];

/** A rig whose calls are those of another tenant. */
type Chat = { readonly rig: Rig; readonly session: string };

async function openFor(rig: Rig, connection: Connection, chunks: number): Promise<Chat> {
  const own = { ...rig, connection };
  return { rig: own, session: await openSession(own, await registerModel(own, { chunks, gap: 0 }, WINDOW)) };
}

async function newLimited(rig: Rig): Promise<Connection> {
  const connection = await rig.newTenant();
  await rig.setLimits(connection, LIMITS, BUDGETS);
  return connection;
}

async function benchCpu(rig: Rig) {
  const [off, on] = [await openFor(rig, rig.connection, 20), await openFor(rig, await newLimited(rig), 20)];
  const perTurn = async (chat: Chat): Promise<number> =>
    ((await rig.cpu.measure(() => times(TURNS, () => say(chat.rig, chat.session)))) / TURNS) * 1_000;
  const took = { off: [] as number[], on: [] as number[] };
  for (const chat of [off, on]) await perTurn(chat);
  for (let round = 0; round < SAMPLES; round++) {
    took.off.push(await perTurn(off));
    took.on.push(await perTurn(on));
  }
  const figures = [
    measured("a turn with limits and budgets, CPU", "ms", took.on),
    measured("a turn without either, CPU", "ms", took.off),
  ] as const;
  return [...figures, ratio("  with both against without", figures, CPU_GOAL)];
}

/** Makes so many values, some at a time. */
async function makeAll<T>(count: number, make: () => Promise<T>): Promise<T[]> {
  const made: T[] = [];
  while (made.length < count) made.push(...(await Promise.all(Array.from({ length: Math.min(PREPARING, count - made.length) }, make))));
  return made;
}

async function benchThroughput(rig: Rig) {
  const tenant = await newLimited(rig);
  const together = await makeAll(SESSIONS, () => openFor(rig, tenant, 1));
  const apart = await makeAll(SESSIONS, async () => openFor(rig, await newLimited(rig), 1));
  const seconds = async (chats: readonly Chat[]): Promise<number> => {
    const start = performance.now();
    await Promise.all(chats.map((chat) => say(chat.rig, chat.session)));
    return (performance.now() - start) / 1_000;
  };
  const took = { together: [] as number[], apart: [] as number[] };
  for (const chats of [together, apart]) await seconds(chats);
  for (let round = 0; round < ROUNDS; round++) {
    took.together.push(await seconds(together));
    took.apart.push(await seconds(apart));
  }
  const figures = [
    measured(`a turn in each of ${SESSIONS} sessions of one tenant, at once`, "s", took.together),
    measured(`a turn in each of ${SESSIONS} sessions of ${SESSIONS} tenants, at once`, "s", took.apart),
  ] as const;
  return [...figures, ratio("  one tenant against many, time", figures, TIME_GOAL)];
}

export async function benchLimits(rig: Rig): Promise<BenchResult> {
  return {
    title: "Limits and budgets of tenants",
    notes: [
      "Limits of requests and model calls a minute, of turns and streams at one time, and three budgets, that refuse nothing. CPU is that of all of",
      `workerd, medians of ${SAMPLES} samples of ${TURNS} turns. Times are of all clients at once, medians of ${ROUNDS}: 1.11 of the time is 0.9 of the throughput.`,
    ],
    figures: [...(await benchCpu(rig)), ...(await benchThroughput(rig))],
  };
}
