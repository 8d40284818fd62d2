/**
 * Looks up what the session's record holds: for its model (`memory_query`), which is shown what is out of its view, and for people, who are
 * shown all of it. The record of another session is never read: there is none in this database.
 */
import type { ToolOutcome } from "../../app/ports";
import type { RecallReport } from "../../app/recall-views";
import type { Schedule } from "../../app/session-ports";
import { NOTHING_FOUND } from "../../context/recall/render";
import { parseRecall, type RecallArguments, type RecallFault, type RecallRequest } from "../../context/recall/request";
import { estimateTokens } from "../../context/tokens";
import type { SessionState } from "../../domain/state";
import { ok, type Result } from "../../lib/result";
import type { ContentReader } from "../content";
import type { Sql } from "../log/sql";
import { fetchExecution, fetchRange, listNewest } from "./fetch";
import type { SearchInput } from "./found-record";
import { indexPage } from "./recall-index";
import { boundOf, lastHidden, MOST_TOKENS, scopeOf, shownIn } from "./recall-reader";
import { searchWords } from "./search";

/** Hits of one answer, at most; its tokens are the tighter bound. */
export const MOST_HITS = 60;

export interface RecallPorts {
  readonly sql: Sql;
  readonly content: ContentReader;
  readonly schedule: Schedule;
  /** Present truth: it is read again after every wait. */
  state(): SessionState;
  /** Of the model that reads the answer; null: unknown. */
  readonly window: number | null;
}

/** For the session's model. */
export async function recallFor(given: RecallArguments, ports: RecallPorts): Promise<ToolOutcome> {
  const found = await lookUp(given, { hiddenOnly: true, limit: MOST_HITS }, ports);
  if (found.ok) return { output: found.value.text, failure: null };
  return { output: `${found.error.field}: ${found.error.detail}.`, failure: "invalid_arguments" };
}

export interface LookUpOptions {
  /** What the view shows is found only where nothing else is. */
  readonly hiddenOnly: boolean;
  readonly limit: number;
}

export async function lookUp(
  given: RecallArguments,
  options: LookUpOptions,
  ports: RecallPorts,
): Promise<Result<RecallReport, RecallFault>> {
  const asked = parseRecall(given, scopeOf(ports.state()));
  if (!asked.ok) return asked;
  const { value: request } = asked;
  return ok(request.kind === "words" ? await search(request, options, ports) : fetch(request, ports));
}

function fetch(request: Exclude<RecallRequest, { kind: "words" }>, ports: RecallPorts): RecallReport {
  const state = ports.state();
  const offset = request.kind === "newest" ? 0 : request.offset;
  const input = { tokens: boundOf(MOST_TOKENS.fetch, ports.window), offset, isShown: shownIn(state) };
  if (request.kind === "execution") return fetchExecution(request.execution, input, ports);
  if (request.kind === "range") return fetchRange(request.range, input, ports);
  return listNewest(lastHidden(state), { ...input, redacted: new Set(state.redacted) }, ports);
}

async function search(
  request: Extract<RecallRequest, { kind: "words" }>,
  { hiddenOnly, limit }: LookUpOptions,
  ports: RecallPorts,
): Promise<RecallReport> {
  if (hiddenOnly) {
    await indexUpTo((state) => lastHidden(state), ports);
    const hidden = searchWords(inputOf(request, { limit, hiddenOnly }, ports), ports);
    if (hidden) return hidden;
  }
  await indexUpTo(({ next_position }) => next_position - 1, ports);
  const found = searchWords(inputOf(request, { limit, hiddenOnly: false }, ports), ports);
  return found ?? { data: [], text: NOTHING_FOUND, tokens: estimateTokens(NOTHING_FOUND), next: null };
}

/** A page at once; others have their turn in between. */
async function indexUpTo(last: (state: SessionState) => number, { sql, content, state, schedule }: RecallPorts): Promise<void> {
  while (state().lifecycle === "open" && indexPage(sql, last(state()), content)) {
    await new Promise<void>((resolve) => void schedule(0, resolve));
  }
}

function inputOf(
  { query, range }: Extract<RecallRequest, { kind: "words" }>,
  { limit, hiddenOnly }: LookUpOptions,
  ports: RecallPorts,
): SearchInput {
  const state = ports.state();
  const isShown = shownIn(state);
  const isInRange = (position: number): boolean => range === null || (range.from <= position && position <= range.to);
  return {
    query,
    tokens: boundOf(MOST_TOKENS.words, ports.window),
    limit,
    range,
    isWanted: (position) => isInRange(position) && !(hiddenOnly && isShown(position)),
    isShown,
    redacted: new Set(state.redacted),
  };
}
