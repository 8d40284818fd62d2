/** Tells whether a request that answers calls asks for the same as their turn, which then goes on. */
import type { RespondInput } from "../../app/respond-api";
import { canonical } from "../../app/tools/canonical-json";
import { mergeGeneration } from "../../context/generation";
import type { OpenTurn } from "../../domain/state";
import { askedModel } from "../../domain/turn-choices";
import type { Step } from "../log/store";
import type { Session } from "../session";
import { type PreparedTurn, readSessionGeneration } from "./turn-choices";

/** A request inside its transaction, with what a turn of it is asked with. */
export interface NextTurn {
  readonly session: Session;
  readonly step: Step;
  readonly input: RespondInput;
  readonly prepared: PreparedTurn;
}

/** A request that names nothing asks for the same. Otherwise all that it names and all that it leaves to the session must be the same. */
export function isAskedAlike({ session, step, input }: NextTurn, turn: OpenTurn): boolean {
  const { model, generation, tools, system } = input;
  if ([model, generation, tools, system].every((named) => named === undefined || named === null)) return true;
  const { settings } = step.state;
  const { content } = session;
  const ofSession = content.readRefText(settings.system);
  return (
    (model ?? settings.model) === askedModel({ turn, settings }) &&
    isSame(mergeGeneration(readSessionGeneration(session), generation ?? {}), content.readGeneration()) &&
    toPrompt(system ?? ofSession) === toPrompt(content.readRefText(turn.system ?? settings.system)) &&
    isSame(tools ?? content.readRefTools(settings.tools), content.readRefTools(turn.tools ?? settings.tools))
  );
}

/** An empty system prompt stands for none. */
const toPrompt = (system: string | null): string | null => system || null;

/** Clients write the same request again with other orders of properties. */
const isSame = (one: unknown, other: unknown): boolean => canonical(one, free) === canonical(other, free);

const free = (): void => {};
