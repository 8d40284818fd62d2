import { z } from "@hono/zod-openapi";
import type { BranchComparison, BranchView } from "../../app/branch-views";
import { documents } from "./documents";
import { id, time } from "./ids";
import { itemView } from "./message";
import { counter } from "./page";

const positionInput = z.int().min(0).max(Number.MAX_SAFE_INTEGER);

export const branchView = documents<BranchView>()(
  z
    .object({
      number: z.int(),
      parent: z.int().nullable().openapi({ description: "The branch that it left; null: it is the first" }),
      shared_to: z.int().openapi({ description: "The last position that it shares with its parent" }),
      created_at: time,
      left_at: time.nullable().openapi({ description: "null: it is the one that goes on" }),
      current: z.boolean(),
      messages: z.int(),
      last_position: z.int(),
    })
    .openapi("Branch"),
);

const side = z.object({ number: z.int(), items: z.array(itemView).readonly(), has_more: z.boolean() });

export const branchComparisonView = documents<BranchComparison>()(
  z
    .object({
      shared_to: z.int().openapi({ description: "The last position that both have; 0: none" }),
      shared_messages: z.int(),
      a: side,
      b: side,
    })
    .openapi("BranchComparison"),
);

export const rewindInput = z
  .strictObject({ to: positionInput.openapi({ description: "The last position that stays; 0: nothing does" }) })
  .openapi("Rewind");

export const forkInput = z
  .strictObject({
    at: positionInput
      .optional()
      .openapi({ description: "The last position that is shared; by default the newest, without a turn under way" }),
    title: z.string().min(1).max(200).optional(),
  })
  .openapi("Fork");

export const branchNumber = counter.pipe(z.int().min(1).max(1_000_000));

/** Chooses the branches that a list of messages shows. */
export const branchQuery = z
  .union([z.enum(["current", "all"]), branchNumber])
  .optional()
  .openapi({ type: "string", description: "current (the default), all, or a branch's number" });

export const redactedView = z.object({ message_id: id("msg"), position: z.int() }).openapi("Redacted");
