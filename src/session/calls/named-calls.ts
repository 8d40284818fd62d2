/** Finds messages by their ids, wherever they are in the record, with the results of calls that the server ran. */
import type { NamedInput, NamedMessage, NamedMessages } from "../../app/named-api";
import type * as api from "../../app/session-api";
import type { DisplayItem } from "../../contract/item";
import { isAmong, listUnread } from "../../domain/branch";
import type { ItemMeta } from "../../domain/message";
import { err, ok } from "../../lib/result";
import { type ExecutionRow, findExecutionRow, hasWaited, readExecutions } from "../log/execution-rows";
import { readItems } from "../log/log-tables";
import { findItemsAnywhere } from "../log/session-past";
import type { Sql } from "../log/sql";
import type { Session } from "../session";
import { MAX_ANSWER_BYTES, takeWithin, weighMessage } from "./answer-size";
import { findBranch, findLineAfter, type Line } from "./continue-after";
import { readAround } from "./message-pages";

/** A message, its calls, and the results of those that the server ran. */
interface Found extends Runs {
  readonly items: readonly ItemMeta[];
}

interface Runs {
  /** The calls that the server ran. */
  readonly ran: readonly ExecutionRow[];
  readonly results: readonly ItemMeta[];
  /** The reply whose call the message answers. */
  readonly reply: readonly ItemMeta[];
}

export function readNamed(session: Session, { ids, place }: NamedInput): api.Outcome<NamedMessages> {
  const { state, deps } = session;
  if (state.settings.throwaway && !place) return err({ code: "session_not_found" });
  const found = findMessages(session, findItemsAnywhere(deps.sql, ids));
  const fitting = takeWithin(found, {
    weigh: ({ items, results, reply }) => weighMessage([...items, ...results, ...reply]),
    limit: MAX_ANSWER_BYTES,
  });
  const line = place ? findLine(session, place.after) : null;
  const data = fitting.map((each) => show(session, each, line));
  const wanted = new Set(ids);
  const rest = found.slice(fitting.length).flatMap(({ items }) => items.map(({ id }) => id).filter((id) => wanted.has(id)));
  return ok({ data, rest });
}

function findMessages(session: Session, named: readonly ItemMeta[]): Found[] {
  const found: Found[] = [];
  let last = 0;
  for (const item of named) {
    // The message before has it.
    if (item.position <= last) continue;
    const items = readAround(session.deps.sql, item);
    last = items.at(-1)?.position ?? item.position;
    found.push({ items, ...findRuns(session, items) });
  }
  return found;
}

function findRuns({ deps: { sql } }: Session, items: readonly ItemMeta[]): Runs {
  const calls = items.filter(({ kind }) => kind === "tool_call");
  const [first, last] = [calls[0], calls.at(-1)];
  if (!first || !last) return findAnswered(sql, items[0]);
  const rows = readExecutions(sql, { from: first.position, to: last.position, limit: calls.length, order: "asc" });
  const ran = rows.filter(({ runs }) => runs === "server");
  const results = ran.flatMap(({ result_position: at }) => (at === null ? [] : readAt(sql, at)));
  return { ran, results, reply: [] };
}

const readAt = (sql: Sql, position: number): readonly ItemMeta[] =>
  readItems(sql, { from: position, to: position, limit: 1, order: "asc" });

/** The call that a result answers, if the server ran it. */
function findAnswered(sql: Sql, item: ItemMeta | undefined): Runs {
  const row = item?.kind === "tool_result" && item.tool ? findExecutionRow(sql, item.tool.execution) : null;
  if (row?.runs !== "server") return { ran: [], results: [], reply: [] };
  return { ran: [row], results: [], reply: readAt(sql, row.position).flatMap((call) => readAround(sql, call)) };
}

/** A cut-off reply that a retry took back is in the record, and no model reads it. */
function findLine(session: Session, after: Parameters<typeof findLineAfter>[1]): Line | null {
  const line = findLineAfter(session, after);
  return line && { ...line, elsewhere: listUnread({ ...line, taken_back: session.state.branch.taken_back }) };
}

function show(session: Session, { items, ran, results, reply }: Found, line: Line | null): NamedMessage {
  const { state, content } = session;
  const [first] = items;
  const [message] = content.display(items);
  if (!first || !message) throw new TypeError("a message has items");
  const { position } = first;
  const isCurrent = !isAmong(state.branch.elsewhere, position);
  return {
    message,
    branch: (isCurrent ? null : findBranch(session, position)?.number) ?? state.branch.number,
    is_there: line !== null && position <= line.last && !isAmong(line.elsewhere, position),
    ran_here: ran.map(({ id }) => id),
    approvals: ran
      .filter((row) => hasWaited(row, state))
      .map(({ id, approval }) => ({ execution_id: id, is_answered: Boolean(approval?.answer) })),
    results: results.flatMap((result): DisplayItem[] => content.display([result])),
    reply: content.display(reply)[0] ?? null,
    redacted: [...items, ...results, ...reply].filter(({ redacted }) => redacted).map(({ id }) => id),
  };
}
