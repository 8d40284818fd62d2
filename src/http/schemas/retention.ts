/** The rules of retention as a client names them. */
import type { z } from "@hono/zod-openapi";
import { NO_RETENTION } from "../../app/retention";
import { type RetentionSetting, retentionSetting } from "../../contract/retention";
import { defined } from "./defined";

export const retentionInput = retentionSetting.partial().openapi("RetentionInput");

/** A rule that is not named ends. */
export const toSetting = (input: z.infer<typeof retentionInput>): RetentionSetting => ({ ...NO_RETENTION, ...defined(input) });
