/** What happens once for each idempotency key, and is answered as it stands now when it is asked for again. */
import type * as api from "../../app/session-api";
import { err, ok } from "../../lib/result";
import { recallOutcome, rememberOutcome } from "../log/idempotency";
import type { Step } from "../log/store";
import type { SessionRuntime } from "../runtime";

/** Looks the key up, works, remembers: one transaction, so that a key never leads to two outcomes. */
export function once<T extends object>(
  runtime: SessionRuntime,
  idempotency: api.Idempotency | null,
  work: (step: Step) => api.Outcome<T>,
): api.Outcome<api.Once<T>> {
  const { sql, clock } = runtime.deps;
  const seen = recallOutcome<T>(sql, idempotency, clock());
  if (seen.kind === "conflict") return err({ code: "idempotency_conflict" });
  if (seen.kind === "seen") return ok({ ...seen.outcome, replayed: true });
  return runtime.store.transact((step) => {
    const done = work(step);
    if (!done.ok) return done;
    rememberOutcome(sql, idempotency, { outcome: done.value, now: clock() });
    return ok({ ...done.value, replayed: false });
  });
}
