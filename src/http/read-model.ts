/** Calls that need D1. When it is out of reach, lists and rebuilds fail, and nothing else does (docs/architecture.md). */
import { toDatabaseCause } from "../lib/error-name";
import { err, ok, type Result } from "../lib/result";
import { readMarks } from "./calls";
import type { Asker, HttpDeps } from "./deps";
import type { RequestError } from "./problem";

/** The result of `work`, or an error when D1 is out of reach. Errors thrown by objects are thrown again. */
export async function reachReadModel<T>(c: Asker, { log }: HttpDeps, work: () => Promise<T>): Promise<Result<T, RequestError>> {
  try {
    return ok(await work());
  } catch (error) {
    const { retryable, overloaded } = readMarks(error);
    if (retryable || overloaded) throw error;
    const name = error instanceof Error ? error.name : typeof error;
    log.error("http.read_model_unavailable", { request_id: c.get("requestId"), name, cause: toDatabaseCause(error) });
    return err({ code: "read_model_unavailable" });
  }
}
