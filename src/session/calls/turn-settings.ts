/** Shows what a turn was asked with: its own choices over the session's settings of that time. */
import type * as api from "../../app/session-api";
import { type Generation, mergeGeneration } from "../../context/generation";
import type { TurnSettings } from "../../contract/turn";
import type { TurnId } from "../../domain/ids";
import type { TextRef } from "../../domain/message";
import { err, ok } from "../../lib/result";
import { type OwnChoices, readTurn, toOwnChoices } from "../log/turn-rows";
import type { Session } from "../session";
import { readChoice } from "./turn-choices";

/** A turn that has not started is shown over the session's present settings. */
export function askedWith(session: Session, turn: TurnId): api.Outcome<TurnSettings> {
  const { state, content, deps } = session;
  const row = readTurn(deps.sql, turn);
  if (!row) return err({ code: "turn_not_found", turn });
  const own: OwnChoices = state.queue.find((waiting) => waiting.turn === turn) ?? toOwnChoices(row);
  const settings = row.settings ?? state.settings;
  const { model = settings.model, system = settings.system, generation = null, note = null } = own;
  const [tools, ofSession] = [own.tools ?? settings.tools, settings.generation ?? null];
  const read = (ref: TextRef | null): string | null => content.readRefText(ref);
  return ok({
    model,
    // An empty text stands for no system prompt.
    system: read(system) || null,
    tools: content.readRefTools(tools),
    generation: mergeGeneration(readChoice(read(ofSession)) as Generation, readChoice(read(generation))),
    note: read(note),
    redacted: [system, tools, ofSession, generation, note].some((ref) => ref !== null && read(ref) === null),
  });
}
