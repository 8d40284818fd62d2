/**
 * The answer to every request while a variable of the configuration is invalid. It says which one and why, and never shows
 * the value.
 */
import type { z } from "zod";
import type { Log } from "../app/ports";
import { describeRefusal } from "./problem";
import { addMissing, listSecurityHeaders } from "./security-headers";
import { toFieldErrors } from "./validation";

export function answerMisconfigured(error: z.ZodError, log: Log): Response {
  const request_id = crypto.randomUUID();
  const errors = toFieldErrors(error.issues);
  log.error("config.invalid", { request_id, variables: errors.map(({ field }) => field) });
  const { status, document, headers } = describeRefusal({ code: "misconfigured", errors }, request_id);
  const response = Response.json(document, { status, headers: { ...headers, "x-request-id": request_id } });
  addMissing(response.headers, listSecurityHeaders({ publicUrl: null }));
  return response;
}
