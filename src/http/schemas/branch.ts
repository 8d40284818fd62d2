import { z } from "@hono/zod-openapi";
import { sessionTitle } from "../../contract/label";
import { counter } from "./page";

const positionInput = z.int().min(0).max(Number.MAX_SAFE_INTEGER);

export const rewindInput = z
  .strictObject({ to: positionInput.openapi({ description: "The last position that stays; 0: nothing does" }) })
  .openapi("Rewind");

export const forkInput = z
  .strictObject({
    at: positionInput
      .optional()
      .openapi({ description: "The last position that is shared; by default the newest, without a turn under way" }),
    title: sessionTitle.optional(),
  })
  .openapi("Fork");

export const branchNumber = counter
  .pipe(z.int().min(1).max(1_000_000))
  .openapi({ type: "string", pattern: "^\\d{1,15}$", description: "The number of a branch" });

/** Chooses the branches that a list of messages shows. */
export const branchQuery = z
  .union([z.enum(["current", "all"]), branchNumber])
  .optional()
  .openapi({ type: "string", description: "current (the default), all, or a branch's number" });
