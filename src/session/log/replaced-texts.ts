/**
 * Deletes content that was replaced. A title, metadata, an end user, or a message that was cancelled in the queue was in no
 * request, and is deleted at once, but for an end user whom model calls are counted for (`forgetEndUser`). Past requests are shown with the system prompt, tools, generation settings, pins and
 * policy of their time, the session's or the turn's own, and a summary under way follows the instructions that it began
 * with, so these stay until the session is erased, or until a redaction: a replaced text might repeat the redacted words.
 */
import type { SessionSettings, StoredEvent, TurnChoices } from "../../domain/events";
import type { BodyId, ItemId } from "../../domain/ids";
import type { TextRef } from "../../domain/message";
import { itemsOfMessage } from "../../domain/open-calls";
import type { SessionState } from "../../domain/state";
import { deleteBodies } from "./bodies";
import { readBranches } from "./branch-rows";
import type { Sql } from "./sql";

type Of<T extends StoredEvent["type"]> = Extract<StoredEvent, { type: T }>;

export function dropReplaced(sql: Sql, { changes }: Of<"SettingsChanged">, { settings }: SessionState): void {
  const replaced = (["title", "metadata", "end_user"] as const).map((name) => (changes[name] === undefined ? null : settings[name]));
  deleteBodies(
    sql,
    refs(replaced).filter((id) => !isOfCall(sql, id)),
  );
}

/** A schedule's text was in no request: each run has a copy of it. */
export function dropScheduled(sql: Sql, name: string, { schedules }: Pick<SessionState, "schedules">): void {
  deleteBodies(
    sql,
    schedules.flatMap((schedule) => (schedule.name === name ? [schedule.message.body] : [])),
  );
}

/** Whether a model call names the body as its end user. */
const isOfCall = (sql: Sql, body: BodyId): boolean =>
  sql.all("SELECT 1 AS one FROM events WHERE type = 'ModelCallFinished' AND json_extract(data, '$.end_user') = ? LIMIT 1", body).length > 0;

export function dropCancelled(sql: Sql, message: ItemId, { queue }: SessionState): void {
  const others = new Set(refs(queue.flatMap(({ item, system }) => (item.id === message ? [] : [system]))));
  for (const queued of queue) {
    if (queued.item.id !== message) continue;
    const chosen = refs([...listChosen(queued), queued.note]).filter((id) => !others.has(id) && !isOfTurn(sql, id));
    deleteBodies(sql, [...itemsOfMessage(queued).map(({ id }) => id), ...chosen]);
  }
}

/** Whether a turn that has started was asked with the text: turns with the same system prompt may share one body. */
const isOfTurn = (sql: Sql, body: BodyId): boolean =>
  sql.all("SELECT 1 AS one FROM turns WHERE json_extract(data, '$.system.body') = ? LIMIT 1", body).length > 0;

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

/**
 * Deletes system prompts, tools, generation settings, instructions for summaries and pins that the session no longer uses when the event comes.
 * A restoration folds a log whose later events are there already: what they set stays.
 */
export function dropEarlierSettings(
  sql: Sql,
  { seq }: Pick<StoredEvent, "seq">,
  { settings, pins }: Pick<SessionState, "settings" | "pins">,
): void {
  const present = new Set(refs([...listTexts(settings), ...pins]));
  const rows = sql.all<{ data: string }>(
    "SELECT data FROM events WHERE type IN ('SessionOpened', 'SettingsChanged', 'PinsSet') AND seq <= ?",
    seq,
  );
  const known = rows.flatMap(({ data }) => {
    const { settings: opened, changes, pins: set = [] } = JSON.parse(data) as Named;
    return refs([...listTexts(opened), ...listTexts(changes), ...set]);
  });
  deleteBodies(
    sql,
    known.filter((id) => !present.has(id)),
  );
}

/** The texts that a turn is asked with in place of the session's. */
const listChosen = ({ tools, system, generation }: TurnTexts): readonly (TextRef | null | undefined)[] => [tools, system, generation];

type TurnTexts = TurnChoices & { readonly tools?: TextRef | null };

/**
 * Deletes what turns that are over were asked with in place of the session's settings. The newest turn keeps it, because a summary may
 * repeat its prefix, and so does one that can be retried once its branch is the current one again.
 */
export function dropEarlierChoices(sql: Sql, { turn, last_turn, queue }: Pick<SessionState, "turn" | "last_turn" | "queue">): void {
  const retryable = readBranches(sql).flatMap(({ left }) => (left?.last_turn?.status === "completed" ? [] : (left?.last_turn ?? [])));
  const inUse = [turn, last_turn, ...queue, ...retryable].flatMap((asked) => (asked ? listChosen(asked) : []));
  const present = new Set(refs(inUse));
  const query = `SELECT data FROM turns
    WHERE coalesce(json_extract(data, '$.tools'), json_extract(data, '$.system'), json_extract(data, '$.generation')) IS NOT NULL`;
  const known = sql.all<{ data: string }>(query).flatMap(({ data }) => refs(listChosen(JSON.parse(data) as TurnTexts)));
  deleteBodies(
    sql,
    known.filter((id) => !present.has(id)),
  );
}

/** Deletes the notes of the turns that the redacted item asked for or belongs to. They may repeat it. */
export function dropNotes(sql: Sql, { item, position }: Of<"MessageRedacted">): void {
  const query = `SELECT json_extract(data, '$.note.body') AS note FROM turns WHERE json_extract(data, '$.note.body') IS NOT NULL
    AND (json_extract(data, '$.message_id') = ?1 OR id = (SELECT json_extract(meta, '$.turn') FROM items WHERE position = ?2))`;
  deleteBodies(
    sql,
    sql.all<{ note: string }>(query, item, position).map(({ note }) => note as BodyId),
  );
}

const refs = (texts: readonly (TextRef | null | undefined)[]): BodyId[] => texts.flatMap((text) => (text ? [text.body] : []));
