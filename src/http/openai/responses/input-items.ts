/** `GET /v1/responses/{id}/input_items`: what a response was asked with. */

import type { Context } from "hono";
import type { DisplayItem } from "../../../contract/item";
import type { TurnReport } from "../../../contract/turn";
import type { ExecutionId, ItemId, TurnId } from "../../../domain/ids";
import { err, ok, type Result } from "../../../lib/result";
import { giveWay } from "../../../lib/timer";
import type { HttpDeps, HttpEnv } from "../../deps";
import { type HttpError, sendProblem } from "../../problem";
import { type SessionCalls, sessionClient } from "../../session-calls";
import { type AskedCall, readRuns, sortRuns, type WhoRuns } from "../../surface/read-runs";
import { toNameIn } from "../items/item-names";
import { showItems } from "../items/item-pages";
import type { OpenAiItem } from "../items/item-types";
import { toApprovalResponses } from "../items/items";
import { readItemsQuery, toItemList } from "../items/list-query";
import { readNote } from "./asked";
import { endsLeg } from "./leg";
import { parseResponseName } from "./read-response";

type Read<T> = Promise<Result<T, HttpError>>;

const PAGE = 200;
/** No position is behind it. */
const BEHIND_ALL = Number.MAX_SAFE_INTEGER;

export async function listInputItems(c: Context<HttpEnv>, deps: HttpDeps): Promise<Response> {
  const name = c.req.param("response_id") ?? "";
  const named = parseResponseName(name);
  if (!named) return sendProblem(c, { code: "turn_not_found", turn: name });
  const query = readItemsQuery(c);
  if (!query.ok) return sendProblem(c, query.error);
  const calls = sessionClient(deps, c, named.session);
  const items = await readInput(calls, named);
  if (!items.ok) return sendProblem(c, items.error);
  const { after, limit, order } = query.value;
  const page = takePage(order === "asc" ? items.value : items.value.toReversed(), {
    after: after && (toNameIn(named.session, after) ?? after),
    limit,
  });
  return page.ok ? c.json(toItemList(page.value)) : sendProblem(c, page.error);
}

function takePage(items: readonly OpenAiItem[], { after, limit }: { readonly after?: string | undefined; readonly limit: number }) {
  const found = after === undefined ? -1 : items.findIndex(({ id }) => id === after);
  if (after !== undefined && found < 0)
    return err({ code: "invalid_request" as const, errors: [{ field: "after", detail: "no such item" }] });
  const rest = items.slice(found + 1);
  return ok({ data: rest.slice(0, limit), has_more: rest.length > limit });
}

interface Named {
  readonly turn: TurnId;
  readonly leg: number;
}

/** The messages that began the turn, with the results that came with them. */
export async function readInputMessages(calls: SessionCalls, turn: TurnId): Read<readonly DisplayItem[]> {
  const report = await calls.repeatable((api, caller) => api.turn(caller, turn));
  return report.ok ? readOwn(calls, report.value) : report;
}

async function readInput(calls: SessionCalls, { turn, leg }: Named): Read<readonly OpenAiItem[]> {
  const report = await calls.repeatable((api, caller) => api.turn(caller, turn));
  if (!report.ok) return report;
  if (leg === 1) {
    const asked = await readOwn(calls, report.value);
    return asked.ok ? showItems(calls, asked.value) : asked;
  }
  const runs = await readRuns(calls, report.value.items);
  if (!runs.ok) return runs;
  const answers = findAnswers(report.value.items, sortRuns(runs.value)).get(leg);
  if (!answers) return err({ code: "turn_not_found", turn });
  const results = await showItems(calls, answers.results);
  const approvals = answers.approvals.flatMap((call) => toApprovalResponses(call, calls.session));
  return results.ok ? ok([...approvals, ...results.value]) : results;
}

/** What began a later leg: results of the client, and a person's answers to requests for approval. */
interface Answers {
  readonly results: DisplayItem[];
  readonly approvals: AskedCall[];
}

const isAmong = ({ execution_id: id }: DisplayItem, calls: { has(id: ExecutionId): boolean }): boolean => id !== undefined && calls.has(id);

const listAnswered = (calls: NonNullable<DisplayItem["tool_calls"]>, { approvals }: WhoRuns): readonly AskedCall[] =>
  calls.flatMap(({ execution_id }) => approvals.get(execution_id) ?? []).filter(({ approved }) => approved !== null);

/** The answers by the leg that they began (`splitLegs`). `produced`: by the turn, in order. */
function findAnswers(produced: readonly DisplayItem[], who: WhoRuns): ReadonlyMap<number, Answers> {
  const answers = new Map<number, Answers>();
  const at = (leg: number): Answers => {
    const found = answers.get(leg) ?? { results: [], approvals: [] };
    answers.set(leg, found);
    return found;
  };
  let [leg, waits] = [1, false];
  for (const item of produced) {
    const { role, tool_calls = [] } = item;
    if (waits && (role === "assistant" || isAmong(item, who.approvals))) [leg, waits] = [leg + 1, false];
    if (role === "assistant") waits = endsLeg(item, who);
    const answered = listAnswered(tool_calls, who);
    if (answered.length > 0) at(leg + 1).approvals.push(...answered);
    if (role === "tool" && !isAmong(item, who.ranHere)) at(waits ? leg + 1 : leg).results.push(item);
  }
  return answers;
}

/** As many as the request brought, where that was counted: in a copy of a session all that was copied lies before them, and is of no turn. */
async function readOwn(calls: SessionCalls, turn: TurnReport): Read<readonly DisplayItem[]> {
  const [asked, settings] = [await readAsked(calls, turn), await calls.repeatable((api, caller) => api.askedWith(caller, turn.id))];
  if (!asked.ok) return asked;
  if (!settings.ok) return settings;
  const { added } = readNote(settings.value);
  return ok(added === null ? asked.value : asked.value.slice(-added));
}

/**
 * What came with the request that began the turn: its message, those that were appended before it, and the results of calls. Their
 * positions follow each other, whichever branch is current now, and the reply before them ends the list.
 */
async function readAsked(calls: SessionCalls, turn: TurnReport): Read<readonly DisplayItem[]> {
  const { message_id } = turn;
  const end = await findAskedEnd(calls, turn);
  if (!end.ok) return end;
  const asked: DisplayItem[] = [];
  for (let after = end.value; ; ) {
    const place = after;
    const page = await calls.repeatable((api, caller) => api.items(caller, { after: place, limit: PAGE, order: "desc", branch: "all" }));
    if (!page.ok) return page;
    const { data, has_more } = page.value;
    const end = data.findIndex((item) => isBefore(item, message_id));
    asked.push(...(end < 0 ? data : data.slice(0, end)));
    const last = data.at(-1);
    if (end >= 0 || !has_more || !last) return keepClients(calls, asked.toReversed(), data[end]);
    after = last.position;
    await giveWay();
  }
}

/** The position that what was asked ends before. */
async function findAskedEnd(calls: SessionCalls, { message_id, items, created_at }: TurnReport): Read<number> {
  const [first] = items;
  if (first) return ok(first.position);
  if (message_id === null) return findEndAt(calls, created_at);
  const message = await calls.repeatable((api, caller) => api.message(caller, message_id));
  // A message that waits in the queue is in no list yet. No position is before the first one.
  if (message.ok) return ok(message.value.position + 1);
  return message.error.code === "message_not_found" ? ok(1) : message;
}

/** A turn that no message began answers what was recorded before it. */
async function findEndAt(calls: SessionCalls, time: number): Read<number> {
  for (let after = BEHIND_ALL; ; ) {
    const place = after;
    const page = await calls.repeatable((api, caller) => api.items(caller, { after: place, limit: PAGE, order: "desc", branch: "all" }));
    if (!page.ok) return page;
    const found = page.value.data.find(({ recorded_at }) => recorded_at <= time);
    if (found) return ok(found.position + 1);
    const last = page.value.data.at(-1);
    if (!page.value.has_more || !last) return ok(1);
    after = last.position;
    await giveWay();
  }
}

/** The reply or the message of an earlier turn. An assistant's message that a client sent has no turn, and is of the request. */
const isBefore = ({ role, turn_id, id }: DisplayItem, asked: ItemId | null): boolean => role !== "tool" && turn_id !== null && id !== asked;

/** Without the results of calls that the server ran, which belong to the reply. */
async function keepClients(
  calls: SessionCalls,
  asked: readonly DisplayItem[],
  reply: DisplayItem | undefined,
): Read<readonly DisplayItem[]> {
  if (!asked.some(({ role }) => role === "tool")) return ok(asked);
  const runs = await readRuns(calls, reply ? [reply] : []);
  if (!runs.ok) return runs;
  const { ranHere } = sortRuns(runs.value);
  return ok(asked.filter(({ execution_id }) => execution_id === undefined || !ranHere.has(execution_id)));
}
