/** What a turn is asked with: the session's settings, and what its message chose in their place. */
import type { SessionSettings, TurnChoices } from "./events";
import type { TextRef } from "./message";

/** The choices alone, of anything that carries them. */
export const toTurnChoices = ({ generation, model, system, note, key, whole }: TurnChoices): TurnChoices => ({
  ...(generation && { generation }),
  ...(model !== undefined && { model }),
  ...(system && { system }),
  ...(note && { note }),
  ...(key !== undefined && { key }),
  ...(whole && { whole }),
});

interface Asking {
  readonly turn: TurnChoices | null;
  readonly settings: SessionSettings;
}

/**
 * The generation settings of the next request: the session's, and those that the open turn changes. Each weighs what its own schema
 * weighs, so that the sum is never less than what is sent.
 */
export const generationTexts = ({ turn, settings }: Asking): readonly TextRef[] =>
  [settings.generation, turn?.generation].flatMap((text) => text ?? []);

/** The model that the open turn asks for, and between turns the session's. */
export const askedModel = ({ turn, settings }: Asking): string => turn?.model ?? settings.model;

/**
 * The system prompt of the next request: the turn's own or the session's. Between turns, the one that the last turn was asked with,
 * because a summary that reads the turn's prefix repeats it. Null: none, also where the turn's own is empty.
 */
export function askedSystem({ turn, last_turn, settings }: Asking & { readonly last_turn: TurnChoices | null }): TextRef | null {
  const asked = (turn ? turn.system : last_turn?.system) ?? settings.system;
  return asked && asked.bytes > 0 ? asked : null;
}
