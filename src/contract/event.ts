/** The events of a session's log. Their fields come from the table by which stored events are checked, so that there is no second list. */
import { z } from "@hono/zod-openapi";
import { type EventField, eventFields } from "../domain/event-shapes";
import { time } from "./ids";

const KINDS: Readonly<Record<string, z.ZodType>> = {
  string: z.string(),
  number: z.number(),
  boolean: z.boolean(),
  array: z.array(z.unknown()),
  object: z.record(z.string(), z.unknown()),
};

function toSchema({ base, nullable, optional }: EventField): z.ZodType {
  const kind = KINDS[base] ?? z.unknown();
  if (optional) return kind.optional();
  return nullable ? kind.nullable() : kind;
}

const toEvent = ([type, fields]: readonly [string, readonly EventField[]]) =>
  z
    .looseObject({
      seq: z.int().openapi({ description: "The event's place in the log, from 1" }),
      at: time,
      type: z.literal(type),
      ...Object.fromEntries(fields.map((field) => [field.name, toSchema(field)])),
    })
    .openapi(`${type}Event`);

export const eventView = z
  .union([...eventFields].map(toEvent))
  .openapi("Event", { description: "An event of the session's log. It holds ids, kinds, sizes and numbers, and no content" });
