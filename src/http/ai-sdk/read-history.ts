/** Reads a page of a chat's history, the newest messages unless the request says otherwise. */
import { z } from "@hono/zod-openapi";
import type { Context } from "hono";
import type { DisplayItem } from "../../contract/item";
import type { SessionDescription } from "../../contract/session";
import { type FileId, parseId } from "../../domain/ids";
import { ok, type Result } from "../../lib/result";
import { readPrincipal } from "../auth";
import type { HttpDeps, HttpEnv } from "../deps";
import type { HttpError } from "../problem";
import { sessionClient } from "../session-calls";
import { readRuns } from "../surface/read-runs";
import { toFieldErrors } from "../validation";
import { groupByMessage, toUiMessages } from "./ui-history";
import type { UiMessage } from "./ui-message";

const counter = z.coerce.number().int();
/** `limit` counts messages, calls and results of the record: several of them may be one message of the page. */
const historyQuery = z.strictObject({ limit: counter.min(1).max(1_000).default(200), before: counter.min(1).optional() });
/** How long the page may take to load the files that the messages show. */
const ADDRESS_MS = 60 * 60_000;

export interface HistoryPage {
  readonly messages: readonly UiMessage[];
  readonly has_more: boolean;
  /** Send it as `before` to read what comes before. Null: these are the first messages. */
  readonly next_before: number | null;
}

export async function readHistory(
  c: Context<HttpEnv>,
  deps: HttpDeps,
  session: SessionDescription,
): Promise<Result<HistoryPage, HttpError>> {
  const query = historyQuery.safeParse(c.req.query());
  if (!query.success) return { ok: false, error: { code: "invalid_request", errors: toFieldErrors(query.error.issues) } };
  const { limit, before: after = null } = query.data;
  const calls = sessionClient(deps, c, session.id);
  const page = await calls.repeatable((api, caller) => api.items(caller, { after, limit, order: "desc" }));
  if (!page.ok) return page;
  const { has_more } = page.value;
  const items = toWholeMessages(page.value.data.toReversed(), has_more);
  const executions = await readRuns(calls, items);
  if (!executions.ok) return executions;
  const addresses = await signFiles(c, deps, items);
  const shown = items.filter((item) => !isUnderWay(item, session));
  const messages = toUiMessages({ items: shown, executions: executions.value, addressFile: (file) => addresses.get(file) ?? "" });
  return ok({ messages, has_more, next_before: has_more ? (items[0]?.position ?? null) : null });
}

/** The first message of a page may have begun on the page before. It is left to that page, unless the page has nothing else. */
function toWholeMessages(items: readonly DisplayItem[], has_more: boolean): readonly DisplayItem[] {
  const [first, ...rest] = groupByMessage(items);
  return has_more && first && rest.length > 0 && first[0].role !== "user" ? rest.flat() : items;
}

/** The reply that is being made. Its stream tells all of it, from its start. */
const isUnderWay = ({ turn_id, role }: DisplayItem, { turn }: SessionDescription): boolean =>
  turn !== null && turn.phase !== "awaiting_tools" && turn_id === turn.id && (role === "assistant" || role === "tool");

async function signFiles(c: Context<HttpEnv>, deps: HttpDeps, items: readonly DisplayItem[]): Promise<ReadonlyMap<string, string>> {
  const files = new Set(items.flatMap(({ content }) => content.flatMap((part) => ("file_id" in part ? part.file_id : []))));
  const origin = deps.config.publicUrl ?? new URL(c.req.url).origin;
  const expires_at = deps.now() + ADDRESS_MS;
  const sign = async (file: FileId): Promise<readonly [string, string]> => {
    const signature = await deps.fileSigner.sign({ tenant: readPrincipal(c).tenant, file, expires_at });
    return [file, `${origin}/v1/files/${file}/content?signature=${signature}`];
  };
  return new Map(await Promise.all([...files].flatMap((file) => parseId("fil", file) ?? []).map(sign)));
}
