/**
 * Responds in a copy of the session, which ends with the response that is continued. Each response of OpenAI is a fixed place: what goes on
 * behind it elsewhere is not ended, and is not waited for.
 */
import type { CopiedPlace, Responded, RespondInput } from "../../../app/respond-api";
import type { WrittenMessage } from "../../../app/written-message";
import type { FileId, SessionId } from "../../../domain/ids";
import { err, ok, type Result } from "../../../lib/result";
import type { Asker, HttpDeps } from "../../deps";
import { forkSession } from "../../fork-session";
import type { HttpError } from "../../problem";
import { type SessionCalls, sessionClient } from "../../session-calls";
import { sendInLine } from "../../surface/in-line";
import { holdFiles } from "../../take-files";
import { toAnswers } from "../items/store-items";

interface Continuing {
  /** The session that has the response. */
  readonly from: SessionId;
  readonly place: CopiedPlace;
  readonly given: RespondInput;
  /** The idempotency key of the client. */
  readonly key: string | undefined;
}

interface Continued {
  readonly calls: SessionCalls;
  readonly session: SessionId;
  readonly accepted: Responded;
  /** The request as the copy has got it. */
  readonly given: RespondInput;
}

/** After a refusal there is no copy. With its key a client may come back to it: then it stays, and is gone on with. */
export async function respondInCopy(c: Asker, deps: HttpDeps, asked: Continuing): Promise<Result<Continued, HttpError>> {
  const { from, place, given, key } = asked;
  const { at, cut, copy: to } = place;
  const forked = await forkSession(deps, c, { from, at, cut, title: null, key, to });
  if (!forked.ok) return forked;
  const session = forked.value.session.id;
  const files = listFiles(given.messages);
  if (files.length > 0 && !(await holdFiles(c, deps, { session, files }))) return err({ code: "session_erased" });
  const calls = sessionClient(deps, c, session);
  const answers = toAnswers(given.results);
  const input = { ...given, after: null, results: [], messages: [...answers, ...given.messages] };
  const way = given.idempotency ? calls.repeatable : calls.once;
  const sent = await sendInLine({ calls, schedule: deps.schedule }, () => way((api, caller) => api.respond(caller, input)));
  if (sent.ok) return ok({ calls, session, accepted: sent.value, given: input });
  if (!mayComeBack(sent.error, given)) await forked.value.giveUp();
  return err(withoutAnswers(sent.error, answers.length));
}

/** A client that counts its tries sends a request again that another time may take. */
const mayComeBack = ({ code }: HttpError, { idempotency }: RespondInput): boolean =>
  idempotency?.attempt !== undefined &&
  (code === "models_unavailable" || code === "budgets_unavailable" || code === "turn_running" || code === "storage_full");

const listFiles = (messages: readonly WrittenMessage[]): FileId[] => [
  ...new Set(
    messages.flatMap((message) => ("parts" in message ? message.parts : []).flatMap((part) => ("file_id" in part ? part.file_id : []))),
  ),
];

const PLACE = /^messages\.(\d+)(.*)$/;

/** The refusal with the place that the message has in the request. */
function withoutAnswers(error: HttpError, answers: number): HttpError {
  const [, index, rest] = (error.code === "invalid" && PLACE.exec(error.field)) || [];
  return error.code === "invalid" && index !== undefined ? { ...error, field: `messages.${Number(index) - answers}${rest}` } : error;
}
