/** Work that runs once for each idempotency key. A repeated request gets the stored outcome, from which callers show the present state. */
import { type KeptAttempt, runAttempt, runOnce } from "../../app/idempotency";
import type * as api from "../../app/session-api";
import { parseId } from "../../domain/ids";
import { err, ok } from "../../lib/result";
import { createOutcomes, forgetOutcome } from "../log/idempotency";
import type { Sql } from "../log/sql";
import type { Step } from "../log/store";
import { readTurn } from "../log/turn-rows";
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
  try {
    return session.transact((step) => {
      const before = step.state;
      const done = runKeyed(session, idempotency, () => work(step));
      if (!done.ok) throw new Refusal(done.error);
      const refused = session.limits.refuse(before, step.state);
      if (refused && !refused.ok) throw new Refusal(refused.error);
      return ok({ ...done.value.outcome, replayed: done.value.replayed });
    });
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    if (idempotency) forgetOlder(session, idempotency, error.reason);
    return err(error.reason);
  }
}

function runKeyed<T extends object>({ deps: { sql, clock } }: Session, idempotency: api.Idempotency | null, work: () => api.Outcome<T>) {
  const now = clock();
  const attempt = idempotency?.attempt;
  if (!idempotency || !attempt) return runOnce(createOutcomes<T>(sql), { idempotency, now }, work);
  const kept = createOutcomes<KeptAttempt<T>>(sql);
  return runAttempt(kept, { idempotency, attempt, now, readEnd: (seen) => readEnd(sql, seen) }, work);
}

/** When the turn of the outcome ended. Null while it is open. Without a turn: when the request was accepted. */
function readEnd(sql: Sql, { outcome, at }: KeptAttempt<object>): number | null {
  const turn = "turn_id" in outcome && typeof outcome.turn_id === "string" ? parseId("trn", outcome.turn_id) : null;
  const row = turn === null ? null : readTurn(sql, turn);
  return row ? (row.ended_at ?? null) : at;
}

/**
 * A request with the words of an older one was refused, and its client may send it again: that repetition is not of the older one. While a turn
 * runs a refused request waits in line.
 */
function forgetOlder(session: Session, { key, attempt }: api.Idempotency, { code }: api.SessionError): void {
  if (attempt?.tries === 0 && code !== "turn_running") session.transact(() => ok(forgetOutcome(session.deps.sql, key)));
}
