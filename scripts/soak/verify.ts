/** Compares the final state with the responses that clients received: messages, turns, and the lists beside the logs. */
import { setTimeout as delay } from "node:timers/promises";
import { z } from "zod";
import { type Verdict, verify } from "../crash-test/verify.ts";
import { readMessages, readText } from "../replay/read-back.ts";
import { type Connection, callApi } from "../support/api-client.ts";
import { compareSession, type Target } from "../support/read-model.ts";
import type { Told } from "./clients.ts";

const view = z.object({
  message_count: z.number(),
  turn: z.object({ id: z.string(), phase: z.string() }).nullable(),
  queued: z.array(z.unknown()),
});
const list = z.object({
  data: z.array(z.object({ id: z.string(), message_count: z.number() })),
  has_more: z.boolean(),
  next_cursor: z.string().nullable(),
});
const eventPage = z.object({
  data: z.array(z.looseObject({ seq: z.number(), type: z.string(), turn: z.string().nullish() })),
  has_more: z.boolean(),
  next_cursor: z.union([z.string(), z.number()]).nullable(),
});

/** Maximum time until turns, queued messages and lists are at rest, in milliseconds: more than the deadline for a silent provider. */
const REST = 5 * 60_000;
const POLL = 500;

export interface Findings {
  readonly messages: Verdict;
  readonly turns: number;
  /** Changes of the view. */
  readonly compactions: number;
  /** Turns that were started, have no end, and do not wait for their client. */
  readonly unended: readonly string[];
  /** Messages that the lists still lacked when everything was at rest. */
  readonly lag: number;
  /** Rows of the read model that differed from the logs. */
  readonly differences: readonly string[];
}

export async function readView({ connection, session }: Pick<Told, "connection" | "session">) {
  return view.parse(await callApi(connection, { method: "GET", path: `/v1/sessions/${session}`, signal: AbortSignal.timeout(10_000) }));
}

/** By session, as D1 has them. */
export async function readCounts(connection: Connection, pages = Number.POSITIVE_INFINITY): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  let after = "";
  for (let number = 0; number < pages; number++) {
    const path = `/v1/sessions?limit=100${after}`;
    const page = list.parse(await callApi(connection, { method: "GET", path, signal: AbortSignal.timeout(10_000) }));
    for (const { id, message_count } of page.data) counts.set(id, message_count);
    if (!page.has_more || page.next_cursor === null) break;
    after = `&after=${encodeURIComponent(page.next_cursor)}`;
  }
  return counts;
}

export async function examine(told: readonly Told[], tenants: ReadonlyMap<Connection, Target>): Promise<Findings> {
  const deadline = performance.now() + REST;
  const unended: string[] = [];
  for (const each of told) if (!(await comesToRest(each, deadline))) unended.push(`${each.session}: still busy`);
  const lag = await lagAtRest(told, performance.now() + REST);
  const stored = new Map<string, readonly string[]>();
  let [turns, compactions] = [0, 0];
  const differences: string[] = [];
  for (const each of told) {
    stored.set(each.session, await readUserTexts(each));
    const ledger = await readLog(each);
    turns += ledger.turns;
    compactions += ledger.compactions;
    unended.push(...ledger.unended.map((turn) => `${each.session}: ${turn}`));
    const target = tenants.get(each.connection);
    if (target)
      await compareSession(target, each.session, (found) =>
        differences.push(...found.map(({ table, key, column }) => `${table}[${key}].${column ?? "row"}`)),
      );
  }
  return { messages: verify(told, stored), turns, compactions, unended, lag, differences };
}

/** No turn is running, and no message waits, except turns that wait for a client. */
async function comesToRest(told: Told, deadline: number): Promise<boolean> {
  for (;;) {
    const { turn, queued } = await readView(told);
    if (queued.length === 0 && (turn === null || turn.phase === "awaiting_tools")) return true;
    if (performance.now() > deadline) return false;
    await delay(POLL);
  }
}

/** Messages in the logs that the lists lack, once there are none or the time is up. */
async function lagAtRest(told: readonly Told[], deadline: number): Promise<number> {
  for (;;) {
    const lag = await measureLag(told);
    if (lag === 0 || performance.now() > deadline) return lag;
    await delay(POLL);
  }
}

/** Reads the lists first, so that a message written in between counts as not yet shown. */
export async function measureLag(told: readonly Told[], pages?: number): Promise<number> {
  const counts = new Map<Connection, ReadonlyMap<string, number>>();
  for (const { connection } of told) if (!counts.has(connection)) counts.set(connection, await readCounts(connection, pages));
  let lag = 0;
  for (const each of told) lag += Math.max(0, (await readView(each)).message_count - (counts.get(each.connection)?.get(each.session) ?? 0));
  return lag;
}

async function readUserTexts({ connection, session }: Told): Promise<readonly string[]> {
  return (await readMessages(connection, session)).filter(({ role }) => role === "user").map(readText);
}

const ENDS = new Set(["TurnCompleted", "TurnFailed", "TurnStopped", "TurnInterrupted"]);

/** From the log: each started turn has an end, or waits for its client. */
async function readLog(told: Told) {
  let compactions = 0;
  const started = new Set<string>();
  const open = new Set<string>();
  for await (const { type, turn } of readEvents(told)) {
    if (type === "EpochChanged") compactions += 1;
    if (turn && type === "TurnStarted") started.add(turn);
    if (turn && type === "TurnStarted") open.add(turn);
    if (turn && ENDS.has(type)) open.delete(turn);
  }
  const { turn } = await readView(told);
  if (turn?.phase === "awaiting_tools") open.delete(turn.id);
  return { turns: started.size, compactions, unended: [...open] };
}

async function* readEvents({ connection, session }: Told) {
  for (let after = ""; ; ) {
    const path = `/v1/sessions/${session}/events?order=asc&limit=100${after}`;
    const { data, has_more, next_cursor } = eventPage.parse(await callApi(connection, { method: "GET", path }));
    yield* data;
    if (!has_more || next_cursor === null) return;
    after = `&after=${encodeURIComponent(next_cursor)}`;
  }
}
