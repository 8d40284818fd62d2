import type { z } from "@hono/zod-openapi";
import type { limitUse } from "../../contract/limit-use";

export const limitUseExample: z.input<typeof limitUse> = {
  of: "tenant",
  limit: "requests_per_minute",
  max: 600,
  used: 60,
  resets_at: 1_795_000_020_000,
};
