/**
 * Stored events and their versions. A change of an event's shape is a new version with an upcaster (`upcasters`) and a
 * frozen row of the old one in `test/fixtures/events`; only a new optional field needs none. An event type that this build does not know
 * makes the object refuse; it is never skipped.
 */

import { findMalformedField, isEventType } from "./event-shapes";
import type { Event, EventType, StoredEvent } from "./events";
import { type Upcasters, upcasters } from "./upcasters";

interface EventVersions {
  /** Current version of each event type that is past version 1. */
  readonly current: Partial<Record<EventType, number>>;
  readonly upcasters: Upcasters;
}

const VERSIONS: EventVersions = { current: { SessionOpened: 2 }, upcasters };

export const findEventVersion = (type: EventType, { current }: EventVersions = VERSIONS): number => current[type] ?? 1;

export interface StoredRow {
  readonly seq: number;
  readonly at: number;
  readonly type: string;
  readonly version: number;
  /** The event's fields without its type, as JSON. */
  readonly data: string;
}

/** A newer build wrote the log. The object must refuse, because skipping an event would produce a wrong state. */
export class UnknownEventError extends Error {
  override readonly name = "UnknownEventError";
}

/** The row is no valid event: it was damaged by hand, or written by a build that this one cannot read. The object refuses as well. */
export class MalformedEventError extends Error {
  override readonly name = "MalformedEventError";
}

/** The parser throws `UnknownEventError` or `MalformedEventError`. Neither message contains content. */
export const createEventParser =
  (versions: EventVersions) =>
  (row: StoredRow): StoredEvent => {
    const { seq, at, type, version } = row;
    if (!isEventType(type)) throw new UnknownEventError(`event ${seq} has unknown type ${type}`);
    const current = findEventVersion(type, versions);
    if (version > current) throw new UnknownEventError(`event ${seq} ${type} has version ${version}`);
    let data = parseData(row);
    for (let from = version; from < current; from++) {
      const upcast = versions.upcasters[`${type}@${from}`];
      if (!upcast) throw new UnknownEventError(`no upcaster for ${type}@${from}`);
      data = upcast(data);
    }
    const fault = findMalformedField(type, data);
    if (fault !== null) throw new MalformedEventError(`event ${seq} ${type} has no proper ${fault}`);
    return toEvent({ ...data, type, seq, at });
  };

export const parseStoredEvent = createEventParser(VERSIONS);

function parseData({ seq, type, data }: StoredRow): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(data);
    if (isRecord(value)) return value;
  } catch {
    // The parser's message is not repeated, because it may quote content.
  }
  throw new MalformedEventError(`event ${seq} ${type} is no JSON object`);
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null && !Array.isArray(value);

/** The only cast: type and version are known, and `findMalformedField` has checked each field's kind. */
const toEvent = (checked: object): StoredEvent => checked as StoredEvent;

export function toStoredRow(event: Event, seq: number, at: number): StoredRow {
  const { type, ...data } = event;
  return { seq, at, type, version: findEventVersion(type), data: JSON.stringify(data) };
}
