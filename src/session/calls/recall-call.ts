/** Looks up the session's record for people. Unlike the model's `memory_query`, it also returns what the view still shows. */

import type * as api from "../../app/session-api";
import type { RecallInput } from "../../app/session-api";
import type { RecallReport } from "../../contract/recall";
import { err, ok } from "../../lib/result";
import { lookUp, toRecallPorts } from "../recall/recall";
import type { Session } from "../session";

/** The request parameter for an argument of the tool, where their names differ. */
const PARAMETERS: Readonly<Record<string, string>> = { query: "q" };

export async function recallFromRecord(session: Session, input: RecallInput): Promise<api.Outcome<RecallReport>> {
  const { query, execution: execution_id, from, to, offset, limit } = input;
  const found = await lookUp({ query, execution_id, from, to, offset }, { hiddenOnly: false, limit }, toRecallPorts(session));
  if (session.state.lifecycle === "erased") return err({ code: "session_erased" });
  if (found.ok) return ok(found.value);
  const { field, detail } = found.error;
  return err({ code: "invalid", field: PARAMETERS[field] ?? field, detail });
}
