/** Work that runs once for each idempotency key. A repeated request gets the stored outcome, from which callers show the present state. */
import { runOnce } from "../../app/idempotency";
import type * as api from "../../app/session-api";
import { ok } from "../../lib/result";
import { createOutcomes } from "../log/idempotency";
import type { Step } from "../log/store";
import type { Session } from "../session";

/** Runs `work` in one transaction with its key, so that a key never leads to two outcomes. */
export function transactOnce<T extends object>(
  session: Session,
  idempotency: api.Idempotency | null,
  work: (step: Step) => api.Outcome<T>,
): api.Outcome<api.Once<T>> {
  const { sql, clock } = session.deps;
  const done = session.transact((step) => runOnce(createOutcomes<T>(sql), { idempotency, now: clock() }, () => work(step)));
  return done.ok ? ok({ ...done.value.outcome, replayed: done.value.replayed }) : done;
}
