/**
 * Stored events and their versions. A new shape of an event is a new version with an upcaster (`upcasters`) and a frozen
 * fixture in `test/fixtures`; a type that this build does not know makes the object refuse, never skip.
 */

import type { Event, EventType, StoredEvent } from "./events";
import { knownEventTypes } from "./evolve";
import { upcasters } from "./upcasters";

/** Current version of each event type that is past version 1. */
const CURRENT_VERSION: Partial<Record<EventType, number>> = {
  MessagesAppended: 2,
  MessageQueued: 2,
  ModelCallFinished: 2,
  CompactionStarted: 2,
  EpochChanged: 2,
};

export const versionOf = (type: EventType): number => CURRENT_VERSION[type] ?? 1;

export interface StoredRow {
  readonly seq: number;
  readonly at: number;
  readonly type: string;
  readonly version: number;
  /** The event's fields but its type, as JSON. */
  readonly data: string;
}

/** A log that a newer build wrote: the object must refuse, since skipping an event would invent a state. */
export class UnknownEventError extends Error {
  override readonly name = "UnknownEventError";
}

export function parseStoredEvent(row: StoredRow): StoredEvent {
  if (!knownEventTypes.has(row.type)) throw new UnknownEventError(`event ${row.seq} has unknown type ${row.type}`);
  const type = row.type as EventType;
  if (row.version > versionOf(type)) throw new UnknownEventError(`event ${row.seq} ${row.type} has version ${row.version}`);
  let data = JSON.parse(row.data) as Record<string, unknown>;
  for (let version = row.version; version < versionOf(type); version++) {
    const upcast = upcasters[`${type}@${version}`];
    if (!upcast) throw new UnknownEventError(`no upcaster for ${type}@${version}`);
    data = upcast(data);
  }
  return { ...data, type, seq: row.seq, at: row.at } as unknown as StoredEvent;
}

export function toStoredRow(event: Event, seq: number, at: number): StoredRow {
  const { type, ...data } = event;
  return { seq, at, type, version: versionOf(type), data: JSON.stringify(data) };
}
