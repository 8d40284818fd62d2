/** The branches of a session, their comparison, and a redaction. */
import { z } from "@hono/zod-openapi";
import { id, time } from "./ids";
import { displayItem } from "./item";

export const branchView = z
  .object({
    number: z.int(),
    parent: z.int().nullable().openapi({ description: "The branch that it started from. Null for the first branch" }),
    shared_to: z.int().openapi({ description: "The last position that it shares with its parent" }),
    created_at: time,
    left_at: time.nullable().openapi({ description: "Null for the current branch" }),
    current: z.boolean(),
    messages: z.int().openapi({ description: "Messages of users and models on the branch, including shared ones" }),
    last_position: z.int().openapi({ description: "0 if the branch is empty" }),
  })
  .openapi("Branch");
export type BranchView = z.infer<typeof branchView>;

const branchSide = z.object({
  number: z.int(),
  items: z.array(displayItem).readonly().openapi({ description: "Messages, calls and results that the other branch does not have" }),
  has_more: z.boolean().openapi({ description: "There are more items. The list of messages returns them page by page" }),
});
export type BranchSide = z.infer<typeof branchSide>;

export const branchComparison = z
  .object({
    shared_to: z.int().openapi({ description: "The last position that both branches have. 0 if there is none" }),
    shared_messages: z.int(),
    a: branchSide,
    b: branchSide,
  })
  .openapi("BranchComparison", { description: "The items that only one of two branches has" });
export type BranchComparison = z.infer<typeof branchComparison>;

export const redaction = z.object({ id: id("msg"), position: z.int() }).openapi("Redacted");
export type Redaction = z.infer<typeof redaction>;
