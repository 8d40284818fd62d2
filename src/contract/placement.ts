/** Which of the deployment's databases has a tenant's rows, and the move of a tenant to another one. */
import { z } from "@hono/zod-openapi";
import { id, time } from "./ids";

const MOVE_PHASES = ["prepare", "announce", "copy", "verify", "settle", "release", "clean", "sweep"] as const;
export type MovePhase = (typeof MOVE_PHASES)[number];

const databaseName = z
  .string()
  .regex(/^DB(_[1-9][0-9]?)?$/, "the name of a binding: DB, DB_2, DB_3 and so on")
  .openapi({ description: "A database, by the name of its binding", example: "DB_2" });

export const moveInput = z.strictObject({ to: databaseName }).openapi("MoveTenant");

const moveView = z.object({
  from: databaseName.openapi({ description: "The database that the tenant leaves" }),
  to: databaseName,
  phase: z.enum(MOVE_PHASES).openapi({
    description:
      "`prepare` empties the target, `announce` waits until all writers write to both databases, `copy` and `verify` bring the history, `settle` and `release` wait until no reader and no writer uses the old database, `clean` empties it, and `sweep` does so again a minute later",
  }),
  since: time.openapi({ description: "When the phase began" }),
  sessions: z.int().openapi({ description: "Sessions that this phase has finished" }),
  differences: z.int().openapi({ description: "Rows that `verify` had to correct" }),
});

export const placementView = z
  .object({
    tenant_id: id("ten"),
    database: databaseName.openapi({ description: "The database that lists and searches read" }),
    version: z.int().openapi({ description: "Grows with each change" }),
    move: moveView.nullable().openapi({ description: "Null if no move is under way" }),
    wait_ms: z.int().openapi({ description: "How long the next step has to wait. 0 if it can be sent now, or no move is under way" }),
  })
  .openapi("Placement");
export type PlacementView = z.infer<typeof placementView>;

export const databaseList = z
  .object({
    data: z.array(
      z.object({
        database: databaseName,
        bytes: z.int().nullable().openapi({ description: "Null if the database did not answer, or has no tables" }),
        share: z.number().nullable().openapi({ description: "Of the 10 GB that a database holds" }),
        level: z.enum(["ok", "high", "critical", "unknown"]).openapi({ description: "`high` from 50 %, `critical` from 90 %" }),
        tenants: z
          .int()
          .nullable()
          .openapi({ description: "Tenants that have rows in it. One that is being moved counts in both databases" }),
      }),
    ),
  })
  .openapi("DatabaseList");
