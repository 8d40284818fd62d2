/**
 * The answer to every request while a variable of the configuration is invalid. It says which one and why, and never shows
 * the value.
 */
import type { z } from "zod";
import type { Log } from "../app/ports";
import { toFieldErrors } from "./validation";

export function answerMisconfigured(error: z.ZodError, log: Log): Response {
  const request_id = crypto.randomUUID();
  const errors = toFieldErrors(error.issues);
  const detail = errors.map(({ field, detail: fault }) => (fault.startsWith(field) ? fault : `${field}: ${fault}`)).join("; ");
  log.error("config.invalid", { request_id, variables: errors.map(({ field }) => field) });
  const document = { type: "urn:longhand:problem:misconfigured", title: "Misconfigured", status: 500, detail, request_id, errors };
  const headers = { "content-type": "application/problem+json", "x-request-id": request_id, "x-content-type-options": "nosniff" };
  return Response.json(document, { status: 500, headers });
}
