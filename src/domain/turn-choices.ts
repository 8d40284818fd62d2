/** What a turn is asked with: the session's settings, and what its message chose in their place. */
import type { SessionSettings, TurnChoices } from "./events";
import type { TextRef } from "./message";

/** The choices alone, of anything that carries them. */
export const toTurnChoices = ({ generation, model }: TurnChoices): TurnChoices => ({
  ...(generation && { generation }),
  ...(model !== undefined && { model }),
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
