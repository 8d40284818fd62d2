/** D1 may be out of reach: lists and rebuilds then wait, and nothing else does (docs/design.md §1.1). */
import type { Context } from "hono";
import { err, ok, type Result } from "../lib/result";
import { marksOf } from "./calls";
import type { HttpDeps, HttpEnv } from "./deps";
import type { RequestError } from "./problem";

/** What `work` comes to, or that D1 is out of reach. What an object throws is passed on. */
export async function reachReadModel<T>(c: Context<HttpEnv>, { log }: HttpDeps, work: () => Promise<T>): Promise<Result<T, RequestError>> {
  try {
    return ok(await work());
  } catch (error) {
    const { retryable, overloaded } = marksOf(error);
    if (retryable || overloaded) throw error;
    const name = error instanceof Error ? error.name : typeof error;
    log.error("http.read_model_unavailable", { request_id: c.get("requestId"), name });
    return err({ code: "read_model_unavailable" });
  }
}
