/** Opens, changes and exports a session. */

import { type Condition, refuseUnmet } from "../../app/conditions";
import type { ModelSpec } from "../../app/ports";
import { PAGE } from "../../app/projection/project";
import { buildTextBody, buildToolsBody } from "../../app/request/build-items";
import { resolveModel } from "../../app/request/resolve-model";
import { buildPolicy, readSessionPolicy } from "../../app/request/session-policy";
import type * as api from "../../app/session-api";
import type { LogPage } from "../../app/session-api";
import type { Generation } from "../../context/generation";
import { findPolicyFault } from "../../context/policy-check";
import { mergeChoices, offersRecall, type PolicyChoice, parsePolicyText } from "../../context/policy-choice";
import type { SessionDescription } from "../../contract/session";
import type { SessionSettings } from "../../domain/events";
import { changesRequest } from "../../domain/evolve";
import type { TextRef } from "../../domain/message";
import { err, ok } from "../../lib/result";
import { readPage } from "../drain";
import type { NewBody } from "../log/bodies";
import type { Session } from "../session";
import { refusal } from "./model-refusal";
import { describeSession, settingsEtag } from "./read-calls";
import { refuseTooLarge } from "./refuse-too-large";
import { changeGeneration, readSessionGeneration, refuseGeneration } from "./turn-choices";

export async function openSession(session: Session, caller: api.Caller, input: api.OpenInput): Promise<api.Outcome<SessionDescription>> {
  const found = await resolveModel(input.model, { ...session.deps, models: session.deps.models(caller.tenant) });
  if (session.state.lifecycle !== "new") return input.external_id ? err({ code: "session_exists" }) : reopen(session, caller);
  if (!found.ok) return err(refusal(found.error, input.model));
  const spec = found.value;
  const { clock, ids } = session.deps;
  const system = buildTextBody(input.system, ids);
  const tools = buildToolsBody(input.tools, ids);
  const title = buildTextBody(input.title, ids);
  const generation = changeGeneration({}, input.generation ?? {}, ids);
  const tooLarge = refuseTooLarge(spec, {
    policy: input.policy,
    system: system.ref,
    tools: tools.ref,
    generation: generation.ref,
    pins: [],
  });
  if (tooLarge) return tooLarge;
  const metadata = buildTextBody(Object.keys(input.metadata).length > 0 ? JSON.stringify(input.metadata) : null, ids);
  const external = buildTextBody(input.external_id ?? null, ids);
  const user = buildTextBody(input.end_user ?? null, ids);
  const chosen = buildPolicy(parsePolicyText(input.policy), ids);
  const instructions = buildTextBody(input.summaryInstructions ?? null, ids);
  const { policy } = chosen;
  const labels = { metadata: metadata.ref, external_id: external.ref, end_user: user.ref };
  const texts = { system: system.ref, tools: tools.ref, title: title.ref, ...labels };
  const instructed = toInstructionSettings(instructions.ref, chosen.instructions);
  const recall = offersRecall(policy) ? {} : { recall: false };
  const unfit = refuseGeneration(generation.generation, { spec, tools: input.tools ?? [], recall: offersRecall(policy) });
  if (unfit) return unfit;
  const own = generation.ref && { generation: generation.ref };
  const settings: SessionSettings = { model: input.model, policy, ...texts, ...instructed, ...recall, ...own, ...toKind(input) };
  const bodies = [system, tools, title, metadata, external, user, chosen, instructions, generation].flatMap((built) => built.bodies);
  const { tenant, session: id } = caller;
  const opened = session.execute({ type: "OpenSession", at: clock(), tenant, session: id, settings }, bodies);
  return opened.ok ? describeSession(session) : err(opened.error);
}

/** How long the session stays. */
export const toKind = ({ throwaway }: Pick<SessionSettings, "throwaway">): Pick<SessionSettings, "throwaway"> =>
  throwaway ? { throwaway } : {};

/** Only what a session has, so that the event of a session without instructions is as it always was. */
export const toInstructionSettings = (
  summary_instructions: TextRef | null,
  policy_instructions: TextRef | null,
): Pick<SessionSettings, "summary_instructions" | "policy_instructions"> => ({
  ...(summary_instructions && { summary_instructions }),
  ...(policy_instructions && { policy_instructions }),
});

/** Answers a client that opens an existing session again because it has lost the first answer. */
function reopen(session: Session, caller: api.Caller): Promise<api.Outcome<SessionDescription>> {
  const { state } = session;
  if (state.lifecycle === "erased") return Promise.resolve(err({ code: "session_erased" }));
  if (state.tenant !== caller.tenant || state.session !== caller.session) return Promise.resolve(err({ code: "session_not_found" }));
  return describeSession(session);
}

/** Refuses a policy whose values contradict each other, and names the parameter that the client sent. */
export function refusePolicy(whole: PolicyChoice, named: PolicyChoice): api.Outcome<never> | null {
  const fault = findPolicyFault(whole, named);
  return fault ? err({ code: "invalid", field: `policy.${fault.field}`, detail: fault.detail }) : null;
}

export async function patchSession(
  session: Session,
  input: api.PatchInput,
  condition?: Condition,
): Promise<api.Outcome<SessionDescription>> {
  // A change of the title works even when the model cannot be looked up. A change of the request does not.
  const asked = input.model ?? session.state.settings.model;
  const found = changesRequest(input) || input.generation !== undefined ? await resolveModel(asked, session.ports()) : null;
  if (found && !found.ok) return err(refusal(found.error, asked));
  // Nothing is awaited from here to the change, so that no other change comes in between.
  const unmet = refuseUnmet(condition, settingsEtag(session.state));
  if (unmet) return unmet;
  const policy = mergePolicy(session, input);
  const misfit = policy && input.policy !== undefined ? refusePolicy(policy, input.policy) : null;
  if (misfit) return misfit;
  const drafted = buildSettingsChanges(session, input, policy);
  const refused = found ? refuseChanges(session, drafted, { spec: found.value, tools: input.tools }) : null;
  if (refused) return refused;
  const { changes, bodies } = drafted;
  const changed = session.execute({ type: "ChangeSettings", at: session.deps.clock(), changes }, bodies);
  return changed.ok ? describeSession(session) : err(changed.error);
}

/** The whole policy after the patch. Null when the patch names none. */
function mergePolicy({ state, content }: Session, { policy, restoresPolicy }: api.PatchInput): PolicyChoice | null {
  if (policy === undefined) return null;
  return restoresPolicy ? policy : mergeChoices(readSessionPolicy(state.settings, content), policy);
}

interface SettingsChange {
  readonly changes: Partial<SessionSettings>;
  readonly bodies: readonly NewBody[];
}

interface DraftedChanges extends SettingsChange {
  /** The generation settings after the change. */
  readonly generation: Generation;
}

/** Refuses what would leave no room for a conversation, and generation settings that the model or the tools do not allow. */
function refuseChanges(
  { state, content }: Session,
  { changes, generation }: DraftedChanges,
  { spec, tools }: { readonly spec: ModelSpec; readonly tools: api.PatchInput["tools"] },
): api.Outcome<never> | null {
  const settings = { ...state.settings, ...changes };
  const offered = tools === undefined ? content.readRefTools(settings.tools) : (tools ?? []);
  return (
    refuseTooLarge(spec, { ...settings, pins: state.pins }) ??
    refuseGeneration(generation, { spec, tools: offered, recall: settings.recall })
  );
}

/** The changes that the client named; their texts become bodies. */
function buildSettingsChanges(session: Session, input: api.PatchInput, whole: PolicyChoice | null): DraftedChanges {
  const { ids } = session.deps;
  const policy = whole && buildPolicyChange(session, whole);
  const bodies: NewBody[] = policy ? [...policy.bodies] : [];
  const before = readSessionGeneration(session);
  const stored = input.generation === undefined ? null : changeGeneration(before, input.generation, ids);
  const keep = (drafted: Pick<ReturnType<typeof buildTextBody>, "ref"> & { readonly bodies: readonly NewBody[] }): TextRef | null => {
    bodies.push(...drafted.bodies);
    return drafted.ref;
  };
  const text = (value: string | null): TextRef | null => keep(buildTextBody(value, ids));
  const changes: Partial<SessionSettings> = {
    ...(input.model === undefined ? {} : { model: input.model }),
    ...policy?.changes,
    ...(input.summaryInstructions === undefined ? {} : { summary_instructions: text(input.summaryInstructions) }),
    ...(input.metadata === undefined ? {} : { metadata: text(JSON.stringify(input.metadata)) }),
    ...(input.end_user === undefined ? {} : { end_user: text(input.end_user) }),
    ...(input.system === undefined ? {} : { system: text(input.system) }),
    ...(input.title === undefined ? {} : { title: text(input.title) }),
    ...(input.tools === undefined ? {} : { tools: keep(buildToolsBody(input.tools, ids)) }),
    ...(stored && { generation: keep(stored) }),
  };
  return { changes, bodies, generation: stored?.generation ?? before };
}

/**
 * What differs from the session's policy. A policy that differs ends a compaction under way and begins a new epoch; new
 * instructions alone do neither, since they change no request of a turn.
 */
function buildPolicyChange({ state: { settings }, content, deps }: Session, whole: PolicyChoice): SettingsChange {
  const { policy, instructions, bodies } = buildPolicy(whole, deps.ids);
  const before = content.readRefText(settings.policy_instructions ?? null);
  const isSame = before === (bodies[0]?.text ?? null);
  const changes = {
    ...(policy !== settings.policy && { policy, recall: offersRecall(policy) }),
    ...(!isSame && { policy_instructions: instructions }),
  };
  return { changes, bodies: isSame ? [] : [...bodies] };
}

/** A session in use is refused (`turn_running`). A repetition changes nothing. */
export async function archiveSession(
  session: Session,
  type: "ArchiveSession" | "UnarchiveSession",
): Promise<api.Outcome<SessionDescription>> {
  const done = session.execute({ type, at: session.deps.clock() });
  return done.ok ? describeSession(session) : err(done.error);
}

/** The limit of one page: what a rebuild writes in one transaction, and what RPC carries (docs/platform-facts.md). */
const EXPORT = { bytes: 4_000_000, statements: PAGE.statements } as const;

/** No copy is made of a throwaway session: for the read model it never was. */
export function exportLog(session: Session, input: Parameters<api.SessionApi["exportLog"]>[1]): api.Outcome<LogPage> {
  if (session.state.settings.throwaway) return err({ code: "session_not_found" });
  const { events, bodies } = readPage(session.deps.sql, input.after, { ...EXPORT, events: input.limit });
  const last = events.at(-1)?.seq ?? session.state.seq;
  return ok({ events, bodies: [...bodies].map(([id, text]) => ({ id, text })), has_more: last < session.state.seq });
}
