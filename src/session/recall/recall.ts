/**
 * Looks up the session's record: for its model (`memory_query`), which gets what is out of its view, and for people,
 * who get all of it. No other session's record can be read: this database has none.
 */

import type { ToolOutcome } from "../../app/ports";
import type { Schedule } from "../../app/session-ports";
import { NOTHING_FOUND } from "../../context/recall/render";
import { parseRecall, type RecallArguments, type RecallFault, type RecallRequest } from "../../context/recall/request";
import { toEstimate } from "../../context/sizing";
import { estimateTokens } from "../../context/tokens";
import type { RecallReport } from "../../contract/recall";
import { isAmong, listUnread, rangesWithin } from "../../domain/branch";
import type { SessionState } from "../../domain/state";
import { ok, type Result } from "../../lib/result";
import { giveWay } from "../../lib/timer";
import type { ContentReader } from "../content";
import type { Sql } from "../log/sql";
import type { Session } from "../session";
import { fetchExecution, fetchRange, listNewest } from "./fetch";
import type { SearchInput } from "./found-record";
import { indexPage } from "./recall-index";
import { answerTokens, lastHidden, MOST_TOKENS, shownIn, toRecallScope } from "./recall-reader";
import { searchWords } from "./search";

/** The most hits of one answer. The token limit is usually tighter. */
const MOST_HITS = 60;

export interface RecallPorts {
  readonly sql: Sql;
  readonly content: ContentReader;
  readonly schedule: Schedule;
  /** The present state. It is read again after every wait. */
  state(): SessionState;
  /** The window of the model that reads the answer, in tokens. Null: unknown. */
  readonly window: number | null;
}

export const toRecallPorts = (session: Session): RecallPorts => ({
  sql: session.deps.sql,
  schedule: session.deps.schedule,
  content: session.content,
  state: () => session.state,
  window: session.knownModel.findWindow(session.state.settings.model),
});

/** Runs `memory_query` for the session's model. */
export async function recallFor(given: RecallArguments, ports: RecallPorts): Promise<ToolOutcome> {
  const found = await lookUp(given, { hiddenOnly: true, limit: MOST_HITS }, ports);
  if (found.ok) return { output: found.value.text, failure: null, read: quotedIn(found.value) };
  return { output: `${found.error.field}: ${found.error.detail}.`, failure: "invalid_arguments", read: [] };
}

const quotedIn = ({ data }: RecallReport): number[] => [
  ...new Set(data.flatMap(({ position, neighbours }) => [position, ...neighbours.map((neighbour) => neighbour.position)])),
];

type WordsRequest = Extract<RecallRequest, { kind: "words" }>;

interface LookUpOptions {
  /** What the view shows is returned only where nothing else matches. */
  readonly hiddenOnly: boolean;
  readonly limit: number;
}

export async function lookUp(
  given: RecallArguments,
  options: LookUpOptions,
  ports: RecallPorts,
): Promise<Result<RecallReport, RecallFault>> {
  const asked = parseRecall(given, toRecallScope(ports.state()));
  if (!asked.ok) return asked;
  const { value: request } = asked;
  return ok(request.kind === "words" ? await search(request, options, ports) : fetch(request, ports));
}

function fetch(request: Exclude<RecallRequest, { kind: "words" }>, ports: RecallPorts): RecallReport {
  const state = ports.state();
  const offset = request.kind === "newest" ? 0 : request.offset;
  const input = { tokens: answerTokens(MOST_TOKENS.fetch, ports.window), offset, isShown: shownIn(state) };
  if (request.kind === "execution") return fetchExecution(request.execution, input, ports);
  if (request.kind === "range") return fetchRange(request.range, input, ports);
  return listNewest(lastHidden(state), { ...input, unread: listUnread(state.branch) }, ports);
}

async function search(request: WordsRequest, { hiddenOnly, limit }: LookUpOptions, ports: RecallPorts): Promise<RecallReport> {
  if (hiddenOnly) {
    await indexUpTo((state) => lastHidden(state), ports);
    const isShown = shownIn(ports.state());
    const hidden = searchWords(buildSearchInput(request, { limit, isLeftOut: isShown }, ports), ports);
    if (hidden) return hidden;
  }
  await indexUpTo(({ next_position }) => next_position - 1, ports);
  const isLeftOut = hiddenOnly ? isOfThisTurn(ports.state()) : () => false;
  const found = searchWords(buildSearchInput(request, { limit, isLeftOut }, ports), ports);
  return found ?? { data: [], text: NOTHING_FOUND, tokens: toEstimate(estimateTokens(NOTHING_FOUND)), next: null };
}

/** True for messages of the running turn. The question that the model is asked right now is no answer. */
function isOfThisTurn({ turn, view }: SessionState): (position: number) => boolean {
  const own = new Set(view.items.filter((item) => turn && item.turn === turn.id).map(({ position }) => position));
  return (position) => own.has(position);
}

/** Indexes page by page, and lets other work run in between. */
async function indexUpTo(last: (state: SessionState) => number, { sql, content, state, schedule }: RecallPorts): Promise<void> {
  while (state().lifecycle === "open" && indexPage(sql, last(state()), content)) {
    await giveWay(schedule);
  }
}

interface Leaving {
  readonly limit: number;
  readonly isLeftOut: (position: number) => boolean;
}

function buildSearchInput({ query, range }: WordsRequest, { limit, isLeftOut }: Leaving, ports: RecallPorts): SearchInput {
  const state = ports.state();
  const unread = listUnread(state.branch);
  const last = state.next_position - 1;
  const ranges = rangesWithin(unread, { from: range?.from ?? 1, to: Math.min(range?.to ?? last, last) });
  return {
    query,
    tokens: answerTokens(MOST_TOKENS.words, ports.window),
    limit,
    ranges,
    isWanted: (position) => !isAmong(unread, position) && !isLeftOut(position),
    isShown: shownIn(state),
  };
}
