/**
 * Content that something else has taken the place of. What no request was ever built from goes at once: a title, metadata, a message that was
 * cancelled while it waited. A past request is rebuilt from the system prompt, tools and pins of its time, so these stay until the session is
 * erased, or until a redaction, which leaves of what was replaced nothing that might repeat the message's words.
 */
import type { StoredEvent } from "../../domain/events";
import type { BodyId, ItemId } from "../../domain/ids";
import type { TextRef } from "../../domain/message";
import { itemsOfMessage } from "../../domain/open-calls";
import type { SessionState } from "../../domain/state";
import { deleteBodies } from "./bodies";
import type { Sql } from "./sql";

type Of<T extends StoredEvent["type"]> = Extract<StoredEvent, { type: T }>;

export function dropReplaced(sql: Sql, { changes }: Of<"SettingsChanged">, { settings }: SessionState): void {
  const { title, metadata } = settings;
  deleteBodies(sql, refs([changes.title === undefined ? null : title, changes.metadata === undefined ? null : metadata]));
}

export function dropCancelled(sql: Sql, message: ItemId, { queue }: SessionState): void {
  for (const queued of queue) {
    if (queued.item.id !== message) continue;
    deleteBodies(sql, [...itemsOfMessage(queued).map(({ id }) => id), ...refs([queued.tools])]);
  }
}

/** What any of the three events names. */
type Named = Partial<Pick<Of<"SessionOpened">, "settings"> & Pick<Of<"SettingsChanged">, "changes"> & Pick<Of<"PinsSet">, "pins">>;

/** System prompts, tools and pins that the session has no more. */
export function dropEarlierSettings(sql: Sql, { settings, pins }: Pick<SessionState, "settings" | "pins">): void {
  const present = new Set(refs([settings.system, settings.tools, ...pins]));
  const rows = sql.all<{ data: string }>("SELECT data FROM events WHERE type IN ('SessionOpened', 'SettingsChanged', 'PinsSet')");
  const known = rows.flatMap(({ data }) => {
    const { settings: opened, changes, pins: set = [] } = JSON.parse(data) as Named;
    return refs([opened?.system, opened?.tools, changes?.system, changes?.tools, ...set]);
  });
  deleteBodies(
    sql,
    known.filter((id) => !present.has(id)),
  );
}

const refs = (texts: readonly (TextRef | null | undefined)[]): BodyId[] => texts.flatMap((text) => (text ? [text.body] : []));
