/** Opens, changes, erases and exports a session. */

import { compactionCall } from "../../app/compaction/summarize";
import type { Ids } from "../../app/ports";
import { PAGE } from "../../app/projection/project";
import { buildTextBody, buildToolsBody } from "../../app/request/build-items";
import { resolveModel } from "../../app/request/resolve-model";
import type * as api from "../../app/session-api";
import type * as views from "../../app/session-views";
import { findPolicyFault } from "../../context/policy-check";
import { mergeChoices, offersRecall, type PolicyChoice, parsePolicyText, toPolicyText } from "../../context/policy-choice";
import type { ErasureReceipt, SessionDescription } from "../../contract/session";
import { type ErasedUsage, sumForErasure } from "../../domain/erased-usage";
import type { SessionSettings } from "../../domain/events";
import { changesRequest } from "../../domain/evolve";
import type { TextRef } from "../../domain/message";
import { err, ok } from "../../lib/result";
import { readPage } from "../drain";
import type { NewBody } from "../log/bodies";
import { takeDeferredResults } from "../log/deferred-results";
import { allCalls } from "../log/event-log";
import { migrateSession, readMeta, writeMeta } from "../log/log-schema";
import { isStorageFull } from "../log/sql";
import type { SessionRuntime } from "../runtime";
import { describeSession } from "./read-calls";
import { refuseTooLarge } from "./refuse-too-large";

export async function openSession(
  runtime: SessionRuntime,
  caller: api.Caller,
  input: api.OpenInput,
): Promise<api.Outcome<SessionDescription>> {
  const found = await resolveModel(input.model, { ...runtime.deps, models: runtime.deps.models(caller.tenant) });
  if (runtime.state.lifecycle !== "new") return reopen(runtime, caller);
  if (!found.ok) return err(refusal(found.error, input.model));
  const spec = found.value;
  const { clock, ids } = runtime.deps;
  const system = buildTextBody(input.system, ids);
  const tools = buildToolsBody(input.tools, ids);
  const title = buildTextBody(input.title, ids);
  const tooLarge = refuseTooLarge(spec, { policy: input.policy, system: system.ref, tools: tools.ref, pins: [] });
  if (tooLarge) return tooLarge;
  const metadata = buildTextBody(Object.keys(input.metadata).length > 0 ? JSON.stringify(input.metadata) : null, ids);
  const { model, policy } = input;
  const texts = { system: system.ref, tools: tools.ref, title: title.ref, metadata: metadata.ref };
  const recall = { ...(offersRecall(policy) ? {} : { recall: false }), recall_names_session: true } as const;
  const settings: SessionSettings = { model, policy, ...texts, ...recall };
  const bodies = [...system.bodies, ...tools.bodies, ...title.bodies, ...metadata.bodies];
  const opened = runtime.execute({ type: "OpenSession", at: clock(), ...caller, settings }, bodies);
  return opened.ok ? describeSession(runtime) : err(opened.error);
}

export const refusal = (error: "unknown_model" | "unavailable", model: string): api.SessionError =>
  error === "unknown_model" ? { code: "unknown_model", model } : { code: "models_unavailable" };

/** Answers a client that opens an existing session again because it has lost the first answer. */
function reopen(runtime: SessionRuntime, caller: api.Caller): Promise<api.Outcome<SessionDescription>> {
  const { tenant, session, lifecycle } = runtime.state;
  runtime.syncAlarm();
  if (lifecycle === "erased") return Promise.resolve(err({ code: "session_erased" }));
  if (tenant !== caller.tenant || session !== caller.session) return Promise.resolve(err({ code: "session_not_found" }));
  return describeSession(runtime);
}

/** Refuses a policy whose values contradict each other, and names the parameter that the client sent. */
export function refusePolicy(whole: PolicyChoice, named: PolicyChoice): api.Outcome<never> | null {
  const fault = findPolicyFault(whole, named);
  return fault ? err({ code: "invalid", field: `policy.${fault.field}`, detail: fault.detail }) : null;
}

export async function patchSession(runtime: SessionRuntime, input: api.PatchInput): Promise<api.Outcome<SessionDescription>> {
  const { clock, ids } = runtime.deps;
  // A change of the title works even when the model cannot be looked up. A change of the request does not.
  const asked = input.model ?? runtime.state.settings.model;
  const found = changesRequest(input) ? await resolveModel(asked, runtime.ports()) : null;
  if (found && !found.ok) return err(refusal(found.error, asked));
  const { settings, pins } = runtime.state;
  const policy = input.policy === undefined ? null : mergeChoices(parsePolicyText(settings.policy), input.policy);
  const misfit = policy && input.policy !== undefined ? refusePolicy(policy, input.policy) : null;
  if (misfit) return misfit;
  const text = policy && toPolicyText(policy);
  const { changes, bodies } = buildSettingsChanges(input, text === settings.policy ? null : text, ids);
  const tooLarge = found ? refuseTooLarge(found.value, { ...settings, pins, ...changes }) : null;
  if (tooLarge) return tooLarge;
  const changed = runtime.execute({ type: "ChangeSettings", at: clock(), changes }, bodies);
  return changed.ok ? describeSession(runtime) : err(changed.error);
}

/** The changes that the client named; their texts become bodies. */
function buildSettingsChanges(
  input: api.PatchInput,
  policy: string | null,
  ids: Ids,
): { changes: Partial<SessionSettings>; bodies: NewBody[] } {
  const bodies: NewBody[] = [];
  const keep = (drafted: ReturnType<typeof buildTextBody>): TextRef | null => {
    bodies.push(...drafted.bodies);
    return drafted.ref;
  };
  const text = (value: string | null): TextRef | null => keep(buildTextBody(value, ids));
  const changes: Partial<SessionSettings> = {
    ...(input.model === undefined ? {} : { model: input.model }),
    ...(policy === null ? {} : { policy, recall: offersRecall(policy) }),
    ...(input.metadata === undefined ? {} : { metadata: text(JSON.stringify(input.metadata)) }),
    ...(input.system === undefined ? {} : { system: text(input.system) }),
    ...(input.title === undefined ? {} : { title: text(input.title) }),
    ...(input.tools === undefined ? {} : { tools: keep(buildToolsBody(input.tools, ids)) }),
  };
  return { changes, bodies };
}

/** Erases a session. None of its text stays in the object's files, and a tombstone refuses late writers (docs/design.md §1.2). */
export async function eraseObject(runtime: SessionRuntime, caller: api.Caller): Promise<api.Outcome<ErasureReceipt>> {
  if (runtime.state.lifecycle === "open") {
    // The tombstone comes first: from here on it refuses late writers, and the alarm finishes the work.
    const at = runtime.deps.clock();
    try {
      endCalls(runtime);
      runtime.execute({ type: "EraseSession", at });
      runtime.jobs.arm("erase_projection", at + FINISH_ERASURE_MS);
    } catch (error) {
      // On a full disk the tombstone does not fit. Then the database is emptied first, which makes room for it.
      if (!isStorageFull(error)) throw error;
    }
    runtime.runner.abandon();
    runtime.titler.abandon();
    runtime.syncAlarm();
  }
  const { burnt, rows } = await finishErasure(runtime, caller);
  const erased_at = runtime.state.updated_at;
  const session = { store: "session", status: burnt ? "erased" : "pending", rows: null } as const;
  const readModel = { store: "read_model", status: rows === null ? "pending" : "erased", rows } as const;
  return ok({ id: caller.session, erased_at, stores: [session, readModel] });
}

const FINISH_ERASURE_MS = 10_000;
const PURGED_AT_KEY = "burnt_at";

/**
 * Records the model calls under way in the ledger before the ledger is handed over: a call costs money even when the
 * session is erased during it. These are the call of the turn, of the title, and of a summary held for the end of the
 * turn.
 */
function endCalls(runtime: SessionRuntime): void {
  const { turn } = runtime.state;
  const { clock, sql } = runtime.deps;
  if (turn) {
    const { cut, bodies } = runtime.runner.cutShort("aborted");
    const command = { type: "StopTurn", at: clock(), turn: turn.id, reason: "requested", ...cut, partial: null } as const;
    runtime.execute(command, bodies);
  }
  runtime.titler.cutShort();
  for (const held of takeDeferredResults(sql, () => true)) {
    const call = compactionCall(held, runtime.state);
    runtime.execute({ type: "RecordSpentCall", at: clock(), call, part: held.part });
  }
}

interface Erasure {
  /** The object holds nothing of the session any more. */
  readonly burnt: boolean;
  /** The number of rows removed from the read model. Null when it is out of reach; then the alarm tries again. */
  readonly rows: number | null;
}

/** Hands the ledger over to the tenant's object, empties this object unless that is done, then erases the read model's rows. */
export async function finishErasure(runtime: SessionRuntime, caller: api.Caller): Promise<Erasure> {
  const isBurnt = (): boolean => runtime.exists && readMeta(runtime.deps.sql, PURGED_AT_KEY) !== null;
  try {
    const usage = await handOverUsage(runtime, caller, isBurnt() || !runtime.exists);
    // An erasure that was cut off after the wipe has left no time of its own. Then the clock gives it.
    if (!isBurnt()) await purgeObject(runtime, caller, runtime.exists ? runtime.state.updated_at : runtime.deps.clock());
    return { burnt: true, rows: await eraseProjection(runtime, caller, usage) };
  } catch (error) {
    eraseAgain(runtime, caller, error);
    return { burnt: isBurnt(), rows: null };
  }
}

/**
 * Hands the ledger's sums over to the tenant's object, before the log is wiped: no other store knows what its calls
 * cost. After the wipe it returns what the tenant's object holds. Sums are handed over whole and keyed by the session,
 * so that a repetition counts nothing twice.
 */
function handOverUsage(runtime: SessionRuntime, caller: api.Caller, burnt: boolean): Promise<readonly ErasedUsage[]> {
  const usage = burnt ? [] : sumForErasure(allCalls(runtime.deps.sql));
  return runtime.deps.usageArchive(caller.tenant).keep(caller.session, usage);
}

/** Wipes the database and writes the tombstone again: the log of an empty session, opened and erased, without content. */
async function purgeObject(runtime: SessionRuntime, caller: api.Caller, at: number): Promise<void> {
  const settings: SessionSettings = { model: "", policy: "", system: null, tools: null, title: null, metadata: null };
  const emptied = runtime.deps.sql.wipe();
  runtime.store.forget();
  runtime.content.forget();
  runtime.buffer.forget();
  runtime.window.forget();
  runtime.alarmRang(); // the wipe deleted the alarm too
  migrateSession(runtime.deps.sql);
  writeMeta(runtime.deps.sql, PURGED_AT_KEY, String(at));
  runtime.execute({ type: "OpenSession", at, ...caller, settings });
  runtime.execute({ type: "EraseSession", at });
  runtime.jobs.disarm("project"); // the tombstone is not projected: a separate job erases the rows
  runtime.jobs.arm("erase_projection", at);
  runtime.syncAlarm();
  await emptied;
}

async function eraseProjection(runtime: SessionRuntime, caller: api.Caller, usage: readonly ErasedUsage[]): Promise<number> {
  const at = runtime.state.updated_at;
  const { rows } = await runtime.deps.projection(caller.tenant).erase({ ...caller, at, usage });
  runtime.jobs.disarm("erase_projection");
  return rows;
}

/** Arms the alarm again: the tenant's object or the read model is out of reach. */
function eraseAgain(runtime: SessionRuntime, { tenant, session }: api.Caller, error: unknown): void {
  const { log, clock } = runtime.deps;
  log.warn("erasure_failed", { tenant, session, error: error instanceof Error ? error.name : "unknown" });
  // Without tables there is no place for a job. The tenant's object calls again.
  if (!runtime.exists) return;
  const attempts = (runtime.jobs.get("erase_projection")?.attempts ?? 0) + 1;
  runtime.jobs.arm("erase_projection", clock() + Math.min(60_000, 1_000 * 2 ** attempts), attempts);
  runtime.syncAlarm();
}

/** The limit of one page: what a rebuild writes in one transaction, and what RPC carries (docs/platform-facts.md). */
const EXPORT = { bytes: 4_000_000, statements: PAGE.statements } as const;

export function exportLog(runtime: SessionRuntime, input: Parameters<api.SessionApi["exportLog"]>[1]): views.LogPage {
  const { events, bodies } = readPage(runtime.deps.sql, input.after, { ...EXPORT, events: input.limit });
  const last = events.at(-1)?.seq ?? runtime.state.seq;
  return { events, bodies: [...bodies].map(([id, text]) => ({ id, text })), has_more: last < runtime.state.seq };
}
