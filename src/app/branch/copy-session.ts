/**
 * Copies a session, page by page: its items up to a position, and the summaries and drops that cover the oldest of them. Ids are derived
 * from those of the source, so that a page that is sent twice is the same page, and an interrupted copy can go on.
 */

import type { SessionDescription } from "../../contract/session";
import type { FileId, OverlayId, SessionId } from "../../domain/ids";
import type { ItemMeta } from "../../domain/message";
import { err, ok } from "../../lib/result";
import { giveWay } from "../../lib/timer";
import type { BranchApi } from "../branch-api";
import { deriveId } from "../derived-id";
import type { ForkBegun, ForkCut, ForkHead, ForkLine, ForkPage } from "../fork-parts";
import type { Caller, Outcome } from "../session-api";
import type { Schedule } from "../session-ports";

/** Calls a session's object. The effect of the call happens once, however often it is repeated. */
type Ask = <T>(work: (api: BranchApi, caller: Caller) => Promise<Outcome<T>>) => Promise<Outcome<T>>;

interface Copying {
  readonly source: Ask;
  readonly target: Ask;
  /**
   * Notes that the copy is about to refer to these files. Without it they could end with the source before the copy itself has said so. It
   * leaves out deleted files. Answers false when the copy was erased meanwhile.
   */
  readonly hold: (files: readonly FileId[]) => Promise<boolean>;
  readonly from: SessionId;
  readonly to: SessionId;
  /** Null: the source's newest position. */
  readonly at: number | null;
  /** The copy ends behind calls of the client, which it takes no results along. Absent: it ends behind a whole response. */
  readonly cut?: ForkCut;
  /** The copy's title. Null keeps the source's title. */
  readonly title: string | null;
  /** The copy serves one request, and erases itself. Absent: it stays. */
  readonly throwaway?: true;
  /** Absent: the timers of the platform. */
  readonly schedule?: Schedule;
}

export async function copySession(copying: Copying): Promise<Outcome<SessionDescription>> {
  const { target, from, at } = copying;
  const found = await target((api, caller) => api.findFork(caller, { from, at }));
  if (!found.ok) return found;
  const begun = found.value ? ok(found.value) : await begin(copying);
  if (!begun.ok) return begun;
  if (!begun.value.done) {
    const copied = await copyPages(copying, begun.value.line);
    if (!copied.ok) return copied;
  }
  return target((api, caller) => api.completeFork(caller));
}

async function begin({ source, target, from, to, at, cut, title, throwaway }: Copying): Promise<Outcome<ForkBegun>> {
  const read = await source((api, caller) => api.forkHead(caller, at, cut));
  if (!read.ok) return read;
  const named = title === null ? read.value : withTitle(read.value, title);
  const head = await renameHead({ ...named, ...(throwaway && { throwaway }) }, to);
  return target((api, caller) => api.beginFork(caller, { from, head }));
}

/** Starts from the first page each time: the target skips items that it has already. */
async function copyPages(
  { source, target, hold, to, title, schedule }: Pick<Copying, "source" | "target" | "hold" | "to" | "title" | "schedule">,
  line: ForkLine,
): Promise<Outcome<null>> {
  let [after, copied] = [0, 0];
  for (;;) {
    const place = { ...line, after, copied };
    const page = await source((api, caller) => api.forkPage(caller, place));
    if (!page.ok) return page;
    const renamed = toTitled(await renamePage(page.value, to), title);
    const files = listFiles(renamed);
    if (files.length > 0 && !(await hold(files))) return err({ code: "session_erased" });
    if (renamed.items.length > 0) {
      const taken = await target((api, caller) => api.copyIntoFork(caller, renamed));
      if (!taken.ok) return taken;
    }
    if (page.value.next === null) return ok(null);
    after = page.value.next;
    copied += page.value.items.length;
    await giveWay(schedule);
  }
}

const withTitle = ({ title_read_to: _, ...head }: ForkHead, title: string): ForkHead => ({ ...head, title });

/** No redaction takes a title that the copy was given. */
const toTitled = ({ redaction, ...page }: ForkPage, title: string | null): ForkPage => ({
  ...page,
  ...(redaction && { redaction: title === null ? redaction : { ...redaction, isTitleMadeFrom: false } }),
});

const listFiles = ({ items }: ForkPage): FileId[] => [
  ...new Set(items.flatMap(({ meta }) => (meta.attached ?? []).flatMap(({ file }) => file?.id ?? []))),
];

const EXECUTIONS = /exe_[0-7][0-9A-HJKMNP-TV-Z]{25}/g;

/** A summary may name executions: they become the copy's execution ids. */
async function renameHead(head: ForkHead, to: SessionId): Promise<ForkHead> {
  const overlays = await Promise.all(
    head.overlays.map(async ({ overlay, text, ...read }) => ({
      ...read,
      overlay: { ...overlay, id: await renameOverlay(overlay.id, to) },
      text: text === null ? null : await renameExecutions(text, to),
    })),
  );
  return { ...head, overlays };
}

async function renameExecutions(text: string, to: SessionId): Promise<string> {
  const named = [...new Set(text.match(EXECUTIONS) ?? [])];
  const renamed = new Map<string, string>(await Promise.all(named.map(async (id) => [id, await deriveId("exe", `${to}:${id}`)] as const)));
  return text.replace(EXECUTIONS, (id) => renamed.get(id) ?? id);
}

async function renamePage({ items, redaction, ...page }: ForkPage, to: SessionId): Promise<ForkPage> {
  const texts = await Promise.all((redaction?.texts ?? []).map((text) => renameOverlay(text, to)));
  const renamed = await Promise.all(items.map(async ({ meta, ...rest }) => ({ meta: await renameItem(meta, to), ...rest })));
  return { ...page, items: renamed, ...(redaction && { redaction: { ...redaction, texts } }) };
}

const renameOverlay = (overlay: OverlayId, to: SessionId): Promise<OverlayId> => deriveId("ovl", `${to}:${overlay}`);

async function renameItem(meta: ItemMeta, to: SessionId): Promise<ItemMeta> {
  const id = await deriveId("msg", `${to}:${meta.id}`);
  if (!meta.tool) return { ...meta, id };
  return { ...meta, id, tool: { ...meta.tool, execution: await deriveId("exe", `${to}:${meta.tool.execution}`) } };
}
