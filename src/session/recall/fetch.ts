/** Fetches by name: one whole execution, a range of positions, or the newest messages out of view, in pages that fit a small window. */

import { toRecallText } from "../../context/recall/passages";
import { fitted, toLabel } from "../../context/recall/render";
import type { PositionRange } from "../../context/recall/request";
import { toSnippet } from "../../context/recall/snippet";
import { toEstimate } from "../../context/sizing";
import { estimateTokens } from "../../context/tokens";
import { takeHead } from "../../context/tool-results";
import type { RecallHit, RecallNext, RecallReport } from "../../contract/recall";
import type { ExecutionId } from "../../domain/ids";
import { type ItemMeta, toTimeSaid } from "../../domain/message";
import { toUtcMinute } from "../../lib/utc-time";
import type { ContentReader } from "../content";
import { readBranchItems } from "../log/branch-items";
import type { Sql } from "../log/sql";
import { isLookUp } from "./recall-index";
import { isFindable, readExecution } from "./recall-reader";

interface FetchPorts {
  readonly sql: Sql;
  readonly content: Pick<ContentReader, "readShown" | "readForwards">;
}

interface FetchInput {
  /** The most tokens of the text. */
  readonly tokens: number;
  readonly offset: number;
  readonly isShown: (position: number) => boolean;
}

const SNIPPET_UNITS = 200;
/** Tokens reserved for the line that says how to go on. */
const FOOTER_TOKENS = 60;
/** The most items of a range that one look-up reads. The token budget usually ends the page before. */
const MOST_ITEMS = 512;
const PAGE = 64;

/** The end to cut from a page: a short last line, else a short last word. A script without spaces is cut where the page is full. */
const BROKEN_OFF = [/\n[^\n]{1,200}$/, /\s\S{1,100}$/];

/** Removes the broken line or word at a page's end. Half a number is a wrong number, so the next page reads the removed part whole. */
function withoutBrokenEnd(head: string): string {
  const end = BROKEN_OFF.map((form) => form.exec(head)?.index ?? 0).find((index) => index > 0) ?? 0;
  return end === 0 ? head : head.slice(0, end + 1);
}

/**
 * Returns the longest beginning of `text` of at most `tokens`, at least one character. It never ends inside a
 * character, and seldom inside a line or a word.
 */
function cutToTokens(text: string, tokens: number): string {
  if (estimateTokens(text) <= tokens) return text;
  let [fits, over] = [1, text.length];
  while (over - fits > 1) {
    const middle = Math.floor((fits + over) / 2);
    if (estimateTokens(text.slice(0, middle)) <= tokens) fits = middle;
    else over = middle;
  }
  return withoutBrokenEnd(takeHead(text, Math.max(2, fits)));
}

/** Fetches a call with its arguments and its recorded result. */
export function fetchExecution(execution: ExecutionId, input: FetchInput, ports: FetchPorts): RecallReport {
  const items = readExecution(ports.sql, execution);
  if (items.length === 0) return toReport([], `There is no execution ${execution} in this session.`, null);
  const texts = ports.content.readShown(items).map(({ parts }) => toRecallText(parts));
  const blocks = items.map((item, index) => toBlock(item, texts[index] ?? ""));
  if (items.every(({ kind }) => kind !== "tool_result")) blocks.push("No result is recorded of it.");
  const whole = blocks.join("\n");
  const hits = items.map((item, index) => toHit(item, texts[index] ?? "", input));
  if (input.offset > 0 && input.offset >= whole.length) {
    return toReport(hits, `offset: there are ${whole.length} characters of ${execution}, and no more.`, null);
  }
  const page = cutToTokens(whole.slice(input.offset), input.tokens - FOOTER_TOKENS);
  const end = input.offset + page.length;
  if (end >= whole.length) return toReport(hits, page, null);
  const footer = `[characters ${input.offset} to ${end} of ${whole.length}; go on with execution_id ${execution} and offset ${end}]`;
  return toReport(hits, `${page}\n${footer}`, { from: null, to: null, offset: end });
}

const toBlock = (item: ItemMeta, text: string): string => `${toLabel(item)}, ${toUtcMinute(toTimeSaid(item))}:\n${text}`;

function toHit(item: ItemMeta, text: string, { isShown }: Pick<FetchInput, "isShown">): RecallHit {
  const { position, id, kind, tool } = item;
  const created_at = toTimeSaid(item);
  const snippet = toSnippet(text, [], fitted(SNIPPET_UNITS, text));
  const found = { id, position, kind, created_at, execution_id: tool?.execution ?? null, in_view: isShown(position) };
  return { ...found, snippet, score: 0, neighbours: [] };
}

const toReport = (data: readonly RecallHit[], text: string, next: RecallNext | null): RecallReport => ({
  data,
  text,
  tokens: toEstimate(estimateTokens(text)),
  next,
});

/** Fetches messages in order. `next` begins at the message in which this page ends, so that no page reads what an earlier one has read. */
export function fetchRange({ from, to }: PositionRange, input: FetchInput, ports: FetchPorts): RecallReport {
  const hits: RecallHit[] = [];
  let text = "";
  let skip = input.offset;
  let left = input.tokens - FOOTER_TOKENS;
  const until = Math.min(to, from + MOST_ITEMS - 1);
  for (const { meta, parts } of ports.content.readForwards({ from, to: until })) {
    const said = isLookUp(meta) && meta.kind === "tool_result" ? "[what was looked up is not repeated]" : toRecallText(parts);
    const block = `${toBlock(meta, said)}\n`;
    const skipped = Math.min(skip, block.length);
    skip -= skipped;
    if (skipped === block.length) continue;
    const rest = block.slice(skipped);
    const piece = left > 0 ? cutToTokens(rest, left) : "";
    if (piece !== "") hits.push(toHit(meta, said, input));
    text += piece;
    left -= estimateTokens(piece) + 1;
    if (piece.length < rest.length) {
      const next = { from: meta.position, to, offset: skipped + piece.length };
      return toReport(hits, `${text}\n[go on with from ${next.from}, to ${to} and offset ${next.offset}]`, next);
    }
  }
  if (until < to) {
    const next = { from: until + 1, to, offset: 0 };
    return toReport(hits, `${text}[go on with from ${next.from} and to ${to}]`, next);
  }
  return toReport(hits, text === "" ? "offset: there is no more of these messages." : text.trimEnd(), null);
}

interface ListInput extends FetchInput {
  /** Positions that no model reads on the branch. */
  readonly unread: readonly PositionRange[];
}

/** Lists the newest messages that the view does not show, newest first. `last` is the position where the list begins. */
export function listNewest(last: number, input: ListInput, ports: FetchPorts): RecallReport {
  const hits: RecallHit[] = [];
  const lines = ["The newest messages of this session that are not shown any more, newest first (#position who: words):"];
  let left = input.tokens - estimateTokens(lines[0] ?? "");
  for (let to = last; to > 0 && left > 0; ) {
    const page = readBranchItems(ports.sql, input.unread, { from: 1, to, limit: PAGE, order: "desc" });
    const items = page.filter((item) => !input.isShown(item.position) && isFindable(item));
    for (const [index, shown] of ports.content.readShown(items).entries()) {
      const item = items[index];
      if (!item || left <= 0) break;
      const hit = toHit(item, toRecallText(shown.parts), input);
      const line = `${toLabel(item)}, ${toUtcMinute(toTimeSaid(item))}: ${hit.snippet}`;
      left -= estimateTokens(line) + 1;
      if (left <= 0) break;
      hits.push(hit);
      lines.push(line);
    }
    to = (page.at(-1)?.position ?? 1) - 1;
  }
  return hits.length > 0 ? toReport(hits, lines.join("\n"), null) : toReport([], "Everything of this session is in view.", null);
}
