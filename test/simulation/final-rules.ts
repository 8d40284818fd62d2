/** The invariants at the end of a run, when nothing is left to do (docs/invariants.md). */

import { isDeepStrictEqual } from "node:util";
import { buildRequest } from "../../src/app/request/build-request";
import type { ViewEntry } from "../../src/context/view";
import type { ItemId, TenantId } from "../../src/domain/ids";
import type { Part } from "../../src/domain/message";
import { createRebuildRows } from "../../src/read-model/rebuild";
import { toScratchName } from "../../src/read-model/store";
import { ALL_POSITIONS, readItems } from "../../src/session/log/log-tables";
import { readRows, rebuildSession } from "../read-model/rows";
import { checkEvaluation } from "./evaluation-rules";
import { checkFork } from "./fork-rules";
import type { LogRules } from "./log-rules";
import { checkMemory } from "./memory-rules";
import { checkPast } from "./past-rules";
import { MODELS } from "./profile";
import { listRedacted } from "./redaction-rules";
import { checkNothingFound, checkSearch, checkTakenBack } from "./search-rules";
import type { Send } from "./send";
import { checkNoDeadEnd } from "./strict-endpoint";
import { checkExecutions } from "./tool-rules";
import type { Users } from "./users";
import { CALLER, type World } from "./world";

interface Run {
  readonly world: World;
  readonly users: Users;
  readonly log: LogRules;
}

const PLAYED_AGAIN = 5;

export async function checkAtRest(run: Run): Promise<void> {
  checkNothingLeft(run);
  checkMemory({ violations: run.world.violations, kept: run.world.wake().kept, texts: Number.POSITIVE_INFINITY });
  checkMessages(run);
  checkLedger(run);
  run.world.budgets.checkAtRest();
  run.world.hooks.checkAtRest(run.log.events);
  checkExecutions(run.world, run.log.events);
  checkNoDeadEnd(run.log.events, run.world.violations);
  run.world.choices.check(run.log.events);
  run.world.respond.check(run.log.events);
  await run.world.copies.check(run.log.events);
  await run.users.names.check(run.world, run.log.events);
  await checkSearch(run.world, run.users.sends);
  await checkTakenBack(run.world);
  // Runs before a complete rebuild, which removes the rows that an interrupted rebuild left.
  await run.log.redactions.checkRows();
  await checkReadModel(run);
  run.log.redactions.checkTables();
  // The new life that it makes may record what the one before could not write, so the rows are checked before.
  checkReplayedView(run);
  await finishLife(run);
  // Both rules replay the log. Checking a part of the stories suffices.
  if (run.world.seed % PLAYED_AGAIN !== 0) return;
  checkPast(run.world, run.log.events);
  await checkEvaluation(run);
  await checkFork(run.world);
}

/** A new life records what the one before it left open, and may compact what has become worth it. The rules that follow compare the log. */
async function finishLife({ world, log }: Run): Promise<void> {
  void world.wake().service.items(CALLER, { after: null, limit: 1, order: "asc" });
  while (world.hasNoViolation && (await world.scheduler.step())) log.afterStep();
}

/** I3, I14: every turn has ended, and nothing waits. */
function checkNothingLeft({ world, log }: Run): void {
  const { sql, violations, alarmAt, openCalls } = world;
  const { turn, queue, compaction } = log.replayed;
  violations.check(turn === null, "I3", () => `turn ${turn?.id} is still ${turn?.phase}`);
  violations.check(queue.length === 0, "I14", () => `${queue.length} messages still wait`);
  violations.check(compaction.requested === null, "I14", () => `compaction ${compaction.requested?.id} is still under way`);
  violations.check(openCalls === 0, "I14", () => `${openCalls} calls were never answered`);
  const jobs = sql.all("SELECT kind FROM jobs").map((row) => row.kind);
  violations.check(jobs.length === 0 && alarmAt === null, "I14", () => `jobs ${jobs} are armed, the alarm is at ${alarmAt}`);
  const held = sql.all("SELECT compaction FROM pending_outcomes").length;
  violations.check(held === 0, "I14", () => `${held} outcomes of compactions are still held back`);
  const rows = sql.all<{ data: string }>("SELECT data FROM turns").map((row) => JSON.parse(row.data) as { id: string; status: string });
  const open = rows.filter((row) => row.status === "open" || row.status === "queued");
  violations.check(open.length === 0, "I3", () => `the record says that ${open.map((row) => `${row.id} is ${row.status}`)}`);
}

/**
 * I18: the ledger contains only calls that were made. A lease has no more of them than requests. Without crashes, every call is in it: a
 * refusal that teaches something is part of the call that it teaches.
 */
function checkLedger({ world, log }: Run): void {
  const { violations, stats } = world;
  const calls = log.events.flatMap((event) => (event.type === "ModelCallFinished" ? [event] : []));
  for (const lease of new Set(calls.flatMap(({ lease: token }) => token ?? []))) {
    const recorded = calls.filter((call) => call.lease === lease).length;
    const asked = world.model.askedUnder.get(lease) ?? 0;
    violations.check(recorded <= asked, "I18", () => `lease ${lease} asked ${asked} times and has ${recorded} calls in the ledger`);
  }
  const titles = calls.filter((call) => call.purpose === "title").length;
  violations.check(titles <= 2, "I18", () => `a title was asked for ${titles} times`);
  const failures = ["crashes", "consumer crashes", "writes failed", "writes on a full disk"];
  const calm = !failures.some((what) => stats.counts.has(what));
  for (const purpose of ["turn", "compaction", "title", "comparison"]) {
    const made = (stats.counts.get(`${purpose} requests`) ?? 0) + (stats.counts.get(`${purpose} requests inside a turn`) ?? 0);
    const recorded = calls.filter((call) => call.purpose === purpose).length;
    const least = made - (stats.counts.get(`${purpose} lessons`) ?? 0);
    const fine = recorded <= made && (recorded >= least || !calm);
    const byLease = (): string =>
      [...world.model.askedUnder]
        .map(([token, asked]) => `${token}: ${asked}/${calls.filter((call) => call.lease === token).length}`)
        .join(" ");
    violations.check(fine, "I18", () => `${made} ${purpose} requests were made and ${recorded} are in the ledger (${byLease()})`);
  }
}

const toItemText = ({ parts }: ViewEntry): string => parts.map(toPartText).join("");

function toPartText(part: Part): string {
  if (part.type === "text") return part.text;
  if (part.type === "tool_call") return part.arguments;
  return part.type === "tool_result" ? part.output : "";
}

/** I1: an imported reply's calls follow its text directly, as they were sent. */
function findTorn(items: readonly ViewEntry[], { calls, wordless, role }: Send, position: number): string | null {
  const begins = role === "assistant" && wordless ? position - 1 : position;
  const recorded = items.slice(begins, begins + calls.length).flatMap(({ meta, parts }) => (meta.kind === "tool_call" ? parts : []));
  const wanted = role === "assistant" ? calls : [];
  const same = wanted.every((call_id, index) => recorded[index]?.type === "tool_call" && recorded[index].call_id === call_id);
  return same ? null : `the reply at ${position} lost its calls ${wanted}`;
}

/** I1: every acknowledged message is in the record once, unchanged, in the order of acknowledgement. */
function checkMessages({ world, users, log }: Run): void {
  const { violations } = world;
  const items = readRecord(world);
  violations.check(
    items.every(({ meta }, index) => meta.position === index + 1),
    "I10",
    () => "positions of the record have gaps",
  );
  const cancelled = new Set(log.events.flatMap((event) => (event.type === "QueuedMessageCancelled" ? [event.message] : [])));
  const redacted = listRedacted(log.events);
  const placed = new Map<Send, number>();
  for (const send of users.sends) {
    const found = items.filter((item) => toItemText(item) === send.text);
    const message = send.message ?? ("" as ItemId);
    const wanted = send.ackedAt !== null && !cancelled.has(message) && !redacted.has(message) ? 1 : 0;
    violations.check(found.length <= 1, "I1", () => `"${send.text.slice(0, 12)}" is in the record ${found.length} times`);
    const lost = wanted === 1 && (found.length === 0 || found[0]?.meta.id !== send.message);
    violations.check(!lost, "I1", () => `"${send.text.slice(0, 12)}" was acknowledged as ${send.message} and is not in the record`);
    violations.check(!send.refused || found.length === 0, "I1", () => `"${send.text.slice(0, 12)}" was refused and is in the record`);
    const position = found[0]?.meta.position;
    const torn = position === undefined ? null : findTorn(items, send, position);
    if (torn) violations.report("I1", torn);
    if (position !== undefined && send.ackedAt !== null) placed.set(send, position);
  }
  checkOrder(world, placed);
  checkBatches(world, { items, sends: users.sends });
  const asked = new Set(users.sends.map((send) => send.text));
  const invented = items.filter((item) => item.meta.kind === "user" && !asked.has(toItemText(item)) && !redacted.has(item.meta.id));
  violations.check(invented.length === 0, "I1", () => `no client sent ${invented.map(({ meta }) => meta.id)}`);
}

/** I1: what one import recorded stands together and in order. A refused import has left nothing. */
function checkBatches({ violations }: World, { items, sends }: { items: readonly ViewEntry[]; sends: readonly Send[] }): void {
  const positions = new Map(items.map(({ meta }) => [meta.id, meta.position]));
  let next: number | null = null;
  for (const [index, { batch, role, calls, wordless, message }] of sends.entries()) {
    const position = message === null ? undefined : positions.get(message);
    if (batch === null || position === undefined) continue;
    const follows = sends[index - 1]?.batch !== batch || next === null || position === next;
    violations.check(follows, "I1", () => `message ${message} of an import is at ${position}, after one that ends before ${next}`);
    next = position + (role === "assistant" ? calls.length : 0) + (wordless ? 0 : 1);
  }
}

/**
 * A message that was sent after an acknowledgement comes later in the record. An interruption may precede waiting messages that are none.
 */
function checkOrder({ violations }: World, placed: ReadonlyMap<Send, number>): void {
  const all = [...placed];
  for (const [first, at] of all) {
    const mayPrecede = ({ onBusy }: Send): boolean => onBusy === "interrupt" && first.onBusy !== "interrupt";
    const late = all.find(([other, position]) => (first.ackedAt ?? 0) < other.issuedAt && position < at && !mayPrecede(other));
    violations.check(
      !late,
      "I1",
      () => `"${late?.[0].text.slice(0, 12)}" was sent after "${first.text.slice(0, 12)}" was acknowledged and comes before it`,
    );
  }
}

function readRecord(world: World): readonly ViewEntry[] {
  const { runtime } = world.wake();
  return runtime.content.readStored(readItems(runtime.deps.sql, { from: 1, to: ALL_POSITIONS, limit: ALL_POSITIONS, order: "asc" }));
}

/** I9: a new life, which has only the stored data, would send the identical request. */
function checkReplayedView(run: Run): void {
  const { world, log } = run;
  const spec = MODELS[log.replayed.settings.model];
  if (!spec) return;
  const live = world.wake();
  const before = buildRequest(live.runtime.content, spec);
  world.crash();
  const after = buildRequest(world.wake().runtime.content, spec);
  world.violations.check(isDeepStrictEqual(before, after), "I9", () => "the view after a restart differs from the one before");
  const same = isDeepStrictEqual(world.wake().runtime.state, log.replayed);
  world.violations.check(same, "I9", () => "the state after a restart differs from the fold of the log");
}

/** I16: the rows equal those that the complete log produces. */
async function checkReadModel({ world, log }: Run): Promise<void> {
  const { d1, violations } = world;
  const { service } = world.wake();
  const readLog = (after: number) => service.exportLog(CALLER, { after, limit: 500 });
  const [row] = Object.values((await readRows(d1.direct, CALLER)).sessions ?? {});
  violations.check(row?.last_seq === log.replayed.seq, "I16", () => `the rows stand at ${row?.last_seq}, the log at ${log.replayed.seq}`);
  const rebuilt = await rebuildSession({ readLog, rows: createRebuildRows(d1.direct), now: () => world.scheduler.now }, CALLER);
  const differences = rebuilt.ok ? rebuilt.value.differences : [rebuilt.error];
  violations.check(differences.length === 0, "I16", () => JSON.stringify(differences.slice(0, 3)));
}

/** I17: nothing of an erased session remains, and no more work is done for it. */
export async function checkErased({ world, users }: Run): Promise<void> {
  const { sql, d1, violations, alarmAt } = world;
  const jobs = sql.all("SELECT kind FROM jobs").map((row) => row.kind);
  violations.check(
    jobs.length === 0 && alarmAt === null,
    "I17",
    () => `jobs ${jobs} are armed for an erased session, the alarm is at ${alarmAt}`,
  );
  const bodies = sql.all("SELECT id FROM bodies").length + sql.all("SELECT position FROM items").length;
  violations.check(bodies === 0, "I17", () => `${bodies} bodies and items are left`);
  const kept = [CALLER, { ...CALLER, tenant: toScratchName(CALLER.tenant) as TenantId }].map((at) => readRows(d1.direct, at));
  const rows = (await Promise.all(kept))
    .flatMap(Object.entries)
    .flatMap(([table, found]) => Object.keys(found).map((key) => `${table} ${key}`));
  violations.check(rows.length === 0, "I17", () => `rows are left: ${rows}`);
  await checkNothingFound(world, users.sends);
  checkMemory({ violations, kept: world.wake().kept, texts: 0 });
  world.budgets.checkAtRest();
  await checkErasedUsage(world);
  const asked = {
    role: "user",
    parts: [{ type: "text", text: "still there?" }],
    run: true,
    onBusy: "queue",
    tools: null,
    idempotency: null,
  } as const;
  const answer = await world.wake().service.submit(CALLER, asked);
  const gone = !answer.ok && answer.error.code === "session_erased";
  violations.check(
    gone,
    "I17",
    () => `a message to an erased session was answered ${JSON.stringify(answer)} after ${users.sends.length} sends`,
  );
}

/** I17: every call of an erased session is counted once in the remaining sums. */
async function checkErasedUsage({ archive, d1, log, violations }: World): Promise<void> {
  const { handed } = archive;
  const { results } = await d1.direct.prepare("SELECT calls, cost FROM erased_usage").all<{ calls: number; cost: number }>();
  const sum = (rows: readonly { readonly calls: number }[]): number => rows.reduce((calls, row) => calls + row.calls, 0);
  const { calls } = log.replayed.totals;
  const [kept, shown] = [sum(handed), sum(results)];
  violations.check(kept >= calls && kept === shown, "I17", () => `of ${calls} calls ${kept} were handed over and ${shown} are shown`);
}
