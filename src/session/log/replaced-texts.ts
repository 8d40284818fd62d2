/**
 * Deletes content that was replaced. A title, metadata, an end user, or a message that was cancelled in the queue was in no
 * request, and is deleted at once. Past requests are shown with the system prompt, tools, generation settings, pins and
 * policy of their time, and a summary under way follows the instructions that it began with, so these stay until the
 * session is erased, or until a redaction: a replaced text might repeat the redacted words.
 */
import type { SessionSettings, StoredEvent } from "../../domain/events";
import type { BodyId, ItemId } from "../../domain/ids";
import type { TextRef } from "../../domain/message";
import { itemsOfMessage } from "../../domain/open-calls";
import type { SessionState } from "../../domain/state";
import { deleteBodies } from "./bodies";
import type { Sql } from "./sql";

type Of<T extends StoredEvent["type"]> = Extract<StoredEvent, { type: T }>;

export function dropReplaced(sql: Sql, { changes }: Of<"SettingsChanged">, { settings }: SessionState): void {
  const replaced = (["title", "metadata", "end_user"] as const).map((name) => (changes[name] === undefined ? null : settings[name]));
  deleteBodies(sql, refs(replaced));
}

export function dropCancelled(sql: Sql, message: ItemId, { queue }: SessionState): void {
  for (const queued of queue) {
    if (queued.item.id !== message) continue;
    deleteBodies(sql, [...itemsOfMessage(queued).map(({ id }) => id), ...refs([queued.tools, queued.generation])]);
  }
}

/** The fields of any of the three events that name texts. */
type Named = Partial<Pick<Of<"SessionOpened">, "settings"> & Pick<Of<"SettingsChanged">, "changes"> & Pick<Of<"PinsSet">, "pins">>;

/** The texts of settings that stay when they are replaced. */
const listTexts = (settings: Partial<SessionSettings> = {}): readonly (TextRef | null | undefined)[] => [
  settings.system,
  settings.tools,
  settings.generation,
  settings.summary_instructions,
  settings.policy_instructions,
];

/** Deletes system prompts, tools, generation settings, instructions for summaries and pins that the session no longer uses. */
export function dropEarlierSettings(sql: Sql, { settings, pins }: Pick<SessionState, "settings" | "pins">): void {
  const present = new Set(refs([...listTexts(settings), ...pins]));
  const rows = sql.all<{ data: string }>("SELECT data FROM events WHERE type IN ('SessionOpened', 'SettingsChanged', 'PinsSet')");
  const known = rows.flatMap(({ data }) => {
    const { settings: opened, changes, pins: set = [] } = JSON.parse(data) as Named;
    return refs([...listTexts(opened), ...listTexts(changes), ...set]);
  });
  deleteBodies(
    sql,
    known.filter((id) => !present.has(id)),
  );
}

const refs = (texts: readonly (TextRef | null | undefined)[]): BodyId[] => texts.flatMap((text) => (text ? [text.body] : []));
