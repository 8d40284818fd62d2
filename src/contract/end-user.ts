/** The people who talk in a tenant's sessions, by the client's own ids of them. */
import { z } from "@hono/zod-openapi";
import { time } from "./ids";
import { limitUse } from "./limit-use";
import { usageSums } from "./model-call";

const summary = {
  end_user: z.string().openapi({ description: "The client's id of the person", example: "user-42" }),
  sessions: z.int().openapi({ description: "Sessions that have this end user now" }),
  last_used_at: time.nullable().openapi({ description: "When one of these sessions last changed. Null if there is none" }),
};

export const endUserSummary = z.object(summary).openapi("EndUserSummary");
export type EndUserSummary = z.infer<typeof endUserSummary>;

export const endUserView = z
  .object({
    ...summary,
    usage: z
      .object({ from: time, to: time, ...usageSums.shape })
      .openapi({ description: "The calls of this month, in UTC, whose session had this end user at the time" }),
    limits: z.array(limitUse).readonly().openapi({ description: "The limits of each end user that apply to this one. Empty: none" }),
    links: z
      .object({ sessions: z.string(), usage: z.string() })
      .openapi({ description: "Paths of the end user's sessions, and of the usage by day" }),
  })
  .openapi("EndUser");
export type EndUserView = z.infer<typeof endUserView>;
