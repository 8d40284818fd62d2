/** Work that runs once for each idempotency key. A repeated request gets the stored outcome, from which callers show the present state. */
import { runOnce } from "../../app/idempotency";
import type * as api from "../../app/session-api";
import { err, ok } from "../../lib/result";
import { createOutcomes } from "../log/idempotency";
import type { Step } from "../log/store";
import type { Session } from "../session";

/** Carries a refusal out of the transaction, which it undoes as every exception does. */
class Refusal extends Error {
  readonly reason: api.SessionError;

  constructor(reason: api.SessionError) {
    super(reason.code);
    this.reason = reason;
  }
}

/**
 * Runs `work` in one transaction with its key, so that a key never leads to two outcomes. Refused work has changed nothing, whatever it
 * executed before it was refused.
 */
export function transactOnce<T extends object>(
  session: Session,
  idempotency: api.Idempotency | null,
  work: (step: Step) => api.Outcome<T>,
): api.Outcome<api.Once<T>> {
  const { sql, clock } = session.deps;
  try {
    return session.transact((step) => {
      const done = runOnce(createOutcomes<T>(sql), { idempotency, now: clock() }, () => work(step));
      if (!done.ok) throw new Refusal(done.error);
      return ok({ ...done.value.outcome, replayed: done.value.replayed });
    });
  } catch (error) {
    if (error instanceof Refusal) return err(error.reason);
    throw error;
  }
}
