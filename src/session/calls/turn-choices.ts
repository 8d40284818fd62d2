/** Checks the generation settings and the model that a client names, for a session or for one turn, and prepares them to be stored. */
import type { Ids, ModelSpec } from "../../app/ports";
import { buildGenerationBody } from "../../app/request/build-items";
import { resolveModel } from "../../app/request/resolve-model";
import type * as api from "../../app/session-api";
import { type Generation, type GenerationChoice, mergeChoice, mergeGeneration } from "../../context/generation";
import { isOffered, listGenerationFaults } from "../../context/generation-support";
import { RECALL_TOOL } from "../../context/recall-tool";
import type { SessionSettings, TurnChoices } from "../../domain/events";
import type { TextRef, ToolDefinition } from "../../domain/message";
import { err, ok } from "../../lib/result";
import type { NewBody } from "../log/bodies";
import type { Session } from "../session";
import { refusal } from "./model-refusal";

interface Checked {
  /** Null: the model was not looked up, and only the tools are compared. */
  readonly spec: ModelSpec | null;
  readonly tools: readonly ToolDefinition[];
  readonly recall: SessionSettings["recall"];
}

/** Refuses settings that the model cannot express, or that name a tool which is not offered. */
export function refuseGeneration(generation: Generation, { spec, tools, recall }: Checked): api.Outcome<never> | null {
  const [fault] = spec ? listGenerationFaults(generation, spec) : [];
  if (spec && fault) return invalid(fault.setting, `${spec.id} cannot do this: ${fault.detail}`);
  const choice = generation.tool_choice;
  if (choice === undefined || choice === "auto" || choice === "none") return null;
  // The look-up is offered as soon as something has left the view.
  const names = [...tools.map(({ name }) => name), ...(typeof choice !== "string" && recall !== false ? [RECALL_TOOL.name] : [])];
  if (isOffered(choice, names)) return null;
  return invalid("tool_choice", typeof choice === "string" ? "no tool is offered" : `no tool of the name ${choice.name} is offered`);
}

const invalid = (setting: string, detail: string): api.Outcome<never> => err({ code: "invalid", field: `generation.${setting}`, detail });

/** The session's settings with a client's changes. Null clears them all. */
export function changeGeneration(base: Generation, change: GenerationChoice | null, ids: Ids): StoredGeneration {
  const generation = change === null ? {} : mergeGeneration(base, change);
  return { generation, ...buildGenerationBody(Object.keys(generation).length > 0 ? generation : null, ids) };
}

interface StoredGeneration {
  readonly generation: Generation;
  readonly ref: TextRef | null;
  readonly bodies: readonly NewBody[];
}

/** The model that must suit a turn's settings. Null when the request names nothing that has to be checked. */
export async function resolveForTurn(session: Session, { model, generation }: api.TurnInput, base: TurnChoices = {}): Promise<Resolved> {
  if (model === undefined && generation === undefined) return ok(null);
  const id = (model === undefined ? base.model : model) ?? session.state.settings.model;
  const found = await resolveModel(id, session.ports());
  return found.ok ? found : err(refusal(found.error, id));
}

type Resolved = api.Outcome<ModelSpec | null>;

export interface PreparedTurn {
  readonly choices: TurnChoices;
  readonly bodies: readonly NewBody[];
  readonly refusal: api.Outcome<never> | null;
}

interface Preparing {
  readonly resolved: Resolved;
  /** What the turn is asked with where the request names nothing: the choices of the turn that it repeats. */
  readonly base: TurnChoices;
  /** The turn's own tools. Null: the session's. */
  readonly tools: readonly ToolDefinition[] | null;
}

/** Merges a request over what the turn is asked with otherwise, and checks the result. */
export function prepareTurn(session: Session, input: api.TurnInput, { resolved, base, tools }: Preparing): PreparedTurn {
  const { content, state } = session;
  const { own, ref, bodies } = mergeOwn(session, input.generation, base.generation ?? null);
  const model = input.model === undefined ? base.model : (input.model ?? undefined);
  const choices = { ...(ref && { generation: ref }), ...(model !== undefined && { model }) };
  if (!resolved.ok) return { choices, bodies, refusal: resolved };
  if (resolved.value === null && tools === null) return { choices, bodies, refusal: null };
  const { settings } = state;
  const checked = { spec: resolved.value, tools: tools ?? content.readRefTools(settings.tools), recall: settings.recall };
  return { choices, bodies, refusal: refuseGeneration(mergeGeneration(readSessionGeneration(session), own), checked) };
}

interface OwnGeneration {
  readonly own: GenerationChoice;
  readonly ref: TextRef | null;
  readonly bodies: readonly NewBody[];
}

/** The turn's own settings. Where the request names none, the body that the repeated turn stored is named again. */
function mergeOwn({ content, deps }: Session, given: api.TurnInput["generation"], ref: TextRef | null): OwnGeneration {
  const inherited = readChoice(content.readRefText(ref));
  if (given === undefined) return { own: inherited, ref, bodies: [] };
  const own = given === null ? {} : mergeChoice(inherited, given);
  return { own, ...buildGenerationBody(Object.keys(own).length > 0 ? own : null, deps.ids) };
}

const readChoice = (text: string | null): GenerationChoice => (text === null ? {} : (JSON.parse(text) as GenerationChoice));

/** The session's own settings. */
export const readSessionGeneration = ({ state, content }: Session): Generation =>
  readChoice(content.readRefText(state.settings.generation ?? null)) as Generation;
