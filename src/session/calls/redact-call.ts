/** A message's content taken out for good: its body, what was summarised of it, its words in the index, its place in the stream. */
import type * as api from "../../app/session-api";
import type { ItemId } from "../../domain/ids";
import { err, ok } from "../../lib/result";
import { findItem } from "../log/branch-past";
import type { SessionRuntime } from "../runtime";

/** On whatever branch it stands. Done twice it is done. */
export function redactMessage(
  runtime: SessionRuntime,
  message: ItemId,
): api.Outcome<{ readonly message_id: ItemId; readonly position: number }> {
  const { sql, clock } = runtime.deps;
  const item = findItem(sql, message, []);
  if (!item) return err({ code: "message_not_found", message });
  const { position } = item;
  const redacted = runtime.store.transact((step) => {
    const done = step.execute({ type: "RedactMessage", at: clock(), item: message, position });
    // Before the stream tells of it: that is heard by whoever listens, and what it has burnt is a gap to whoever comes back.
    if (done.ok && done.value.length > 0) runtime.buffer.burn(step.state.turn?.id ?? null);
    return done;
  });
  if (!redacted.ok) return err(redacted.error);
  runtime.content.forget();
  return ok({ message_id: message, position });
}
