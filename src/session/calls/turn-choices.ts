/** Checks what a client chooses for a session or for one turn (generation settings, a model, a system prompt), and prepares it to be stored. */
import type { Ids, ModelSpec } from "../../app/ports";
import { buildGenerationBody, buildNoteBody, buildTextBody } from "../../app/request/build-items";
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
import { refuseTooLarge } from "./refuse-too-large";

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

const namesModelOrGeneration = ({ model, generation }: api.TurnInput): boolean => model !== undefined || generation !== undefined;

/**
 * The model that must suit what a turn is asked with. Null when the request names nothing that has to be checked. A system prompt alone
 * does not fail without the registry, because its size is checked again before each request.
 */
export async function resolveForTurn(session: Session, input: api.TurnInput, base: TurnChoices = {}): Promise<Resolved> {
  if (!namesModelOrGeneration(input) && !input.system) return ok(null);
  const id = (input.model === undefined ? base.model : input.model) ?? session.state.settings.model;
  const found = await resolveModel(id, session.ports());
  if (found.ok) return found;
  return namesModelOrGeneration(input) ? err(refusal(found.error, id)) : ok(null);
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
  const { content, deps, state } = session;
  const generation = mergeOwn(session, input.generation, base.generation ?? null);
  const model = input.model === undefined ? base.model : (input.model ?? undefined);
  const system = chooseText(session, base.system, input.system, (text) => findSame(session, text) ?? buildTextBody(text, deps.ids));
  const note = chooseText(session, base.note, input.note, (text) => buildNoteBody(text, deps.ids));
  const choices = {
    ...(generation.ref && { generation: generation.ref }),
    ...(model !== undefined && { model }),
    ...(system.ref && { system: system.ref }),
    ...(note.ref && { note: note.ref }),
    ...toPlainChoices(input),
  };
  const bodies = [...generation.bodies, ...system.bodies, ...note.bodies];
  if (!resolved.ok) return { choices, bodies, refusal: resolved };
  const tooLong = refuseNote(note.ref) ?? (input.system ? refuseSystem(session, system.ref, resolved.value) : null);
  const spec = namesModelOrGeneration(input) ? resolved.value : null;
  if (tooLong || (spec === null && tools === null)) return { choices, bodies, refusal: tooLong };
  const { settings } = state;
  const checked = { spec, tools: tools ?? content.readRefTools(settings.tools), recall: settings.recall };
  return { choices, bodies, refusal: refuseGeneration(mergeGeneration(readSessionGeneration(session), generation.own), checked) };
}

const toPlainChoices = ({ key, whole }: api.TurnInput): Pick<TurnChoices, "key" | "whole"> => ({
  ...(key !== undefined && { key }),
  ...(whole && { whole }),
});

interface ChosenText {
  readonly ref: TextRef | null;
  readonly bodies: readonly NewBody[];
}

/** The turn's own text. Where the request names none, the one of the repeated turn is named again, unless a redaction has deleted it. */
function chooseText(
  { content }: Session,
  inherited: TextRef | undefined,
  given: string | null | undefined,
  build: (text: string) => ChosenText,
): ChosenText {
  if (typeof given === "string") return build(given);
  const keeps = given === undefined && inherited !== undefined && content.readRefText(inherited) !== null;
  return { ref: keeps ? inherited : null, bodies: [] };
}

/** The text as a turn nearby has stored it. Some clients send their instructions with each request, which then take no space again. */
function findSame({ content, state: { turn, last_turn, queue } }: Session, text: string): ChosenText | null {
  const stored = [turn, last_turn, queue.at(-1)].flatMap((asked) => asked?.system ?? []);
  const ref = stored.find((each) => content.readRefText(each) === text);
  return ref ? { ref, bodies: [] } : null;
}

/** Bytes of a note: more than the parameters of a request need, and less than its content. */
const MAX_NOTE_BYTES = 65_536;

function refuseNote(note: TextRef | null): api.Outcome<never> | null {
  if (note === null || note.bytes <= MAX_NOTE_BYTES) return null;
  return err({ code: "invalid", field: "note", detail: `${note.bytes} bytes, and at most ${MAX_NOTE_BYTES} are kept` });
}

/** Refuses a system prompt that leaves no room for a conversation. */
function refuseSystem({ state }: Session, system: TextRef | null, spec: ModelSpec | null): api.Outcome<never> | null {
  return spec && refuseTooLarge(spec, { ...state.settings, system, pins: state.pins }, "system");
}

interface OwnGeneration extends ChosenText {
  readonly own: GenerationChoice;
}

/** The turn's own settings. Where the request names none, the body that the repeated turn stored is named again. */
function mergeOwn({ content, deps }: Session, given: api.TurnInput["generation"], ref: TextRef | null): OwnGeneration {
  const text = content.readRefText(ref);
  const own = mergeGiven(readChoice(text), given);
  if (given === undefined) return { own, ref: text === null ? null : ref, bodies: [] };
  return { own, ...buildGenerationBody(Object.keys(own).length > 0 ? own : null, deps.ids) };
}

/** Null clears what is inherited. */
function mergeGiven(inherited: GenerationChoice, given: api.TurnInput["generation"]): GenerationChoice {
  if (given === undefined) return inherited;
  return given === null ? {} : mergeChoice(inherited, given);
}

export const readChoice = (text: string | null): GenerationChoice => (text === null ? {} : (JSON.parse(text) as GenerationChoice));

/** The session's own settings. */
export const readSessionGeneration = ({ state, content }: Session): Generation =>
  readChoice(content.readRefText(state.settings.generation ?? null)) as Generation;

/** The settings that a turn is asked with: the request's over those of the turn that it repeats, over the session's. */
export function readAskedGeneration(session: Session, given: api.TurnInput["generation"], base: TurnChoices): Generation {
  const inherited = readChoice(session.content.readRefText(base.generation ?? null));
  return mergeGeneration(readSessionGeneration(session), mergeGiven(inherited, given));
}
