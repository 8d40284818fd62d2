/** Both ends of a fork: what the source shows of its past, and how the copy takes it in. */
import { lineAt, refuseCut } from "../../app/branch/go-back";
import { lineThere } from "../../app/branch/switch-branch";
import type { CopiedPin, ForkBegun, ForkCut, ForkHead, ForkLine, ForkPage, ForkPlace, ForkRedaction } from "../../app/fork-parts";
import { buildTextBody, buildToolsBody } from "../../app/request/build-items";
import type * as api from "../../app/session-api";
import { startsGroup } from "../../context/groups";
import { renderPinned } from "../../context/pinned";
import type { SessionDescription } from "../../contract/session";
import { isAmong, rangesWithin, withRange } from "../../domain/branch";
import type { CoveredRange } from "../../domain/compaction-events";
import type { SessionSettings } from "../../domain/events";
import { onLine } from "../../domain/evolve-branch";
import type { OverlayId } from "../../domain/ids";
import { formatBody, toPlainContent } from "../../domain/item-content";
import type { ItemMeta, PinRef } from "../../domain/message";
import type { SessionState } from "../../domain/state";
import { err, ok } from "../../lib/result";
import type { NewBody } from "../log/bodies";
import { findNewest, readBranchItems } from "../log/branch-items";
import { stateAt } from "../log/checkpoints";
import { readRedactedSince } from "../log/event-log";
import { readItems, readRanges } from "../log/log-tables";
import { readReadings, readTitleReach } from "../log/purge-content";
import { createSessionPast } from "../log/session-past";
import type { Sql } from "../log/sql";
import { readItemsAt } from "../recall/recall-reader";
import { noteScrub, type ScrubHost, scrubDeleted } from "../scrub";
import type { Session } from "../session";
import { takeWithin } from "./answer-size";
import { findBranch } from "./continue-after";
import { toInstructionSettings, toKind } from "./lifecycle-calls";
import { describeSession } from "./read-calls";
import { toRedacted } from "./redact-call";
import { changeGeneration, readSessionGeneration } from "./turn-choices";

/** The limit of one page of a copy: one event and one transaction carry it. */
const PAGE = { items: 512, bytes: 2_000_000 } as const;

/** `cut`: `at` is behind calls, of whose results these are left out. Absent: a response is copied with all results of its calls. */
export function forkHead(session: Session, given: number | null, cut?: ForkCut): api.Outcome<ForkHead> {
  const { content, deps } = session;
  const at = given ?? findForkEnd(session);
  const state = findStateAt(session, at);
  const past = createSessionPast(deps.sql, state);
  const misplaced = refuseCut({ field: "at", position: at, isBeforeResults: cut !== undefined }, state, past);
  if (misplaced) return misplaced;
  const { line, shown } = lineAt(at, state, past, { isCopy: true });
  // The copy leaves out what a retry took back.
  const elsewhere = [...line.taken_back, ...(cut?.without ?? [])].reduce(withRange, line.elsewhere);
  const count = createCount(elsewhere, at);
  const isCopied = (position: number): boolean => position <= at && !isAmong(elsewhere, position);
  const readings = readReadings(deps.sql);
  const { settings } = state;
  const tools = content.readRefTools(settings.tools);
  const titleRead = settings.title ? count(Math.min(at, readTitleReach(deps.sql, settings.title.body))) : 0;
  return ok({
    at,
    elsewhere,
    shown,
    seq: session.state.seq,
    model: settings.model,
    policy: settings.policy,
    recall: settings.recall !== false,
    system: content.readRefText(settings.system),
    tools: settings.tools ? tools : null,
    title: content.readRefText(settings.title),
    ...(titleRead > 0 && { title_read_to: titleRead }),
    summary_instructions: content.readRefText(settings.summary_instructions ?? null),
    policy_instructions: content.readRefText(settings.policy_instructions ?? null),
    metadata: JSON.parse(content.readRefText(settings.metadata) ?? "{}") as Record<string, string>,
    end_user: content.readRefText(settings.end_user ?? null),
    generation: readSessionGeneration(session),
    pins: state.pins.map((pin) => copyPin(session, pin, (position) => (isCopied(position) ? count(position) : null))),
    overlays: line.overlays.flatMap((overlay) => {
      const [moved] = moveRanges([overlay], count);
      const text = overlay.kind === "summary" ? (content.readText(overlay.id) ?? "") : null;
      const read = moveRanges(readings.get(overlay.id) ?? [], count);
      return moved ? [{ overlay: { ...overlay, ...moved }, text, ...(text !== null && { read }) }] : [];
    }),
    reduced: line.reduced.flatMap((reduced) => (isCopied(reduced.position) ? [{ ...reduced, position: count(reduced.position) }] : [])),
  });
}

/** The state of the branch that has this position: of another branch than the current one, the state in which it was left. */
function findStateAt({ state, deps }: Session, position: number): SessionState {
  const found = isAmong(state.branch.elsewhere, position) ? findBranch({ deps }, position) : null;
  const there = found && lineThere(found.number, state, createSessionPast(deps.sql, state));
  return there ? onLine(state, there.line, there.items) : state;
}

/**
 * A pin in the copy. Where all that it was copied from is copied too, its labels have the copy's numbers. Where a part is, the pin still
 * goes with a redaction of that part.
 */
function copyPin({ content, deps }: Session, pin: PinRef, move: (position: number) => number | null): string | CopiedPin {
  const text = content.readRefText(pin) ?? "";
  const positions = pin.from ?? [];
  const from = positions.flatMap((position) => move(position) ?? []);
  if (from.length === 0) return text;
  if (from.length < positions.length) return { text, from };
  const items = readRanges(
    deps.sql,
    positions.map((position) => ({ from: position, to: position })),
  );
  const moved = content
    .readShown(items)
    .map(({ meta, parts }) => ({ meta: { ...meta, position: move(meta.position) ?? meta.position }, parts }));
  return { text: renderPinned(moved), from };
}

/** Converts ranges to the copy's positions. A range of which nothing is copied is left out. */
const moveRanges = (ranges: readonly CoveredRange[], count: (position: number) => number): CoveredRange[] =>
  ranges.map(({ from, to }) => ({ from: count(from - 1) + 1, to: count(to) })).filter(({ from, to }) => from <= to);

/**
 * The default end of a copy: the newest position that is not of the running turn. What is under way is not shared, even
 * if its first items have left the view.
 */
const findForkEnd = ({ state: { turn, branch }, deps }: Session): number =>
  findNewest({ sql: deps.sql, elsewhere: branch.elsewhere }, (item) => turn === null || item.turn !== turn.id)?.position ?? 0;

/** Counts the items that are copied up to a position, which gives that position in the copy. */
function createCount(elsewhere: readonly CoveredRange[], at: number): (position: number) => number {
  const ranges = rangesWithin(elsewhere, { from: 1, to: at });
  return (position) => ranges.reduce((sum, { from, to }) => sum + Math.max(0, Math.min(to, position) - from + 1), 0);
}

/** One page of items that are all in the view or all out of it (`aside`), numbered without gaps. */
export function forkPage({ deps, content }: Session, place: ForkPlace): ForkPage {
  const { at, elsewhere, shown, after, copied } = place;
  const read = readBranchItems(deps.sql, elsewhere, { from: after + 1, to: at, limit: PAGE.items, order: "asc" });
  const [first] = read;
  if (!first) return { items: [], aside: false, next: null };
  const isShown = ({ position }: ItemMeta): boolean => isAmong(shown, position);
  const aside = !isShown(first);
  const ends = read.findIndex((item) => isShown(item) === aside);
  const alike = takeWithin(ends < 0 ? read : read.slice(0, ends), { weigh: ({ bytes }) => bytes, limit: PAGE.bytes });
  const before = readItems(deps.sql, { from: 1, to: after, limit: 1, order: "desc" })[0];
  const texts = content.readStored(alike);
  const items = alike.map((item, index) => {
    const { parts, name, metadata } = texts[index] ?? toPlainContent([]);
    const meta = toCopied(item, alike[index - 1] ?? before, copied + index + 1);
    return { meta, text: formatBody({ parts, name, metadata }), ...(item.redacted && { redacted: item.redacted }) };
  });
  const last = alike.at(-1)?.position ?? at;
  const redaction = findRedaction(deps.sql, { ...place, at: last });
  return { items, aside, ...(redaction && { redaction }), next: last < at ? last : null };
}

/**
 * What was redacted since the copy began: of the items, those up to `at` that are copied. Null: nothing that the copy has. A summary or a
 * title may have been made from what is not copied.
 */
function findRedaction(sql: Sql, { at, elsewhere, seq }: ForkLine): ForkRedaction | null {
  const since = seq === undefined ? [] : readRedactedSince(sql, seq);
  if (seq === undefined || since.length === 0) return null;
  const redacted = since.map(({ position }) => position);
  const copied = redacted.filter((position) => position <= at && !isAmong(elsewhere, position));
  const { title } = stateAt(sql, seq).settings;
  const isTitleMadeFrom = title !== null && readTitleReach(sql, title.body) >= Math.min(...redacted);
  if (copied.length === 0 && !isTitleMadeFrom) return null;
  return { positions: copied.map(createCount(elsewhere, at)), texts: since.flatMap(({ texts }) => texts), isTitleMadeFrom };
}

/** A copied item belongs to no turn of the copy, and loses the provider's signature, which holds for the source alone. The copy redacts it anew. */
function toCopied(item: ItemMeta, previous: ItemMeta | undefined, position: number): ItemMeta {
  const { signed: _, continues: __, redacted: ___, ...rest } = item;
  const continues = item.kind === "tool_call" && previous !== undefined && !startsGroup(item, previous);
  return { ...rest, position, turn: null, ...(continues && { continues: true }) };
}

/**
 * Finds the copy that was begun here. Its source may have grown, gone back, been compacted or been erased since: a
 * repeated request does not ask it again. Null when the session is new.
 */
export function findFork(
  { state }: Session,
  caller: api.Caller,
  { from, at }: { readonly from: api.Caller["session"]; readonly at: number | null },
): api.Outcome<ForkBegun | null> {
  const { lifecycle, fork } = state;
  if (lifecycle === "new") return ok(null);
  if (lifecycle === "erased") return err({ code: "session_erased" });
  if (state.tenant !== caller.tenant || state.session !== caller.session) return err({ code: "session_not_found" });
  if (fork?.from !== from || (at !== null && at !== fork.at)) return err({ code: "session_exists" });
  return ok({ line: { at: fork.at, ...(fork.line ?? NOTHING_LEFT) }, done: fork.done });
}

const NOTHING_LEFT = { elsewhere: [], shown: [] } as const;

export function beginFork(
  session: Session,
  caller: api.Caller,
  { from, head }: { readonly from: api.Caller["session"]; readonly head: ForkHead },
): api.Outcome<ForkBegun> {
  const found = findFork(session, caller, { from, at: null });
  if (!found.ok) return found;
  if (found.value) return ok(found.value);
  const { clock, ids } = session.deps;
  const texts = [buildTextBody(head.system, ids), buildToolsBody(head.tools, ids), buildTextBody(head.title, ids)] as const;
  const metadata = buildTextBody(Object.keys(head.metadata).length > 0 ? JSON.stringify(head.metadata) : null, ids);
  const own = buildTextBody(head.summary_instructions, ids);
  const inherited = buildTextBody(head.policy_instructions, ids);
  const user = buildTextBody(head.end_user, ids);
  const pins = head.pins.map((pin) => {
    const { text, ...copied } = typeof pin === "string" ? { text: pin } : pin;
    const { ref, bodies } = buildTextBody(text, ids);
    return { ref: ref && { ...ref, ...copied }, bodies };
  });
  const [system, tools, title] = texts;
  const named = { system: system.ref, tools: tools.ref, title: title.ref, metadata: metadata.ref, end_user: user.ref };
  const recall = head.recall ? {} : { recall: false };
  const instructed = toInstructionSettings(own.ref, inherited.ref);
  const generation = changeGeneration({}, head.generation ?? {}, ids);
  const chosen = generation.ref && { generation: generation.ref };
  const { model, policy } = head;
  const settings: SessionSettings = { model, policy, ...named, ...instructed, ...recall, ...chosen, ...toKind(head) };
  const bodies: NewBody[] = [...texts, metadata, user, own, inherited, generation].flatMap((drafted) => drafted.bodies);
  const summaries = head.overlays.flatMap(({ overlay, text }) => (text === null ? [] : [{ id: overlay.id, text }]));
  const reads = head.overlays.flatMap(({ overlay, read }) => (read ? [{ overlay: overlay.id, ranges: read }] : []));
  const { reduced, title_read_to } = head;
  const view = { overlays: head.overlays.map(({ overlay }) => overlay), reduced, reads, ...(title_read_to && { title_read_to }) };
  const at = clock();
  const line = { elsewhere: head.elsewhere, shown: head.shown, ...(head.seq !== undefined && { seq: head.seq }) };
  session.content.learn([...bodies, ...summaries]);
  return session.transact((step) => {
    step.execute({ type: "OpenSession", at, tenant: caller.tenant, session: caller.session, settings }, bodies);
    const refs = pins.flatMap(({ ref }) => (ref ? [ref] : []));
    if (refs.length > 0)
      step.execute(
        { type: "SetPins", at, pins: refs },
        pins.flatMap((pin) => pin.bodies),
      );
    const begun = step.execute({ type: "BeginFork", at, from, position: head.at, view, line }, summaries);
    return begun.ok ? ok({ line: { at: head.at, ...line }, done: false }) : err(begun.error);
  });
}

/** Takes part in the source's redactions: a summary, a pin or the title of the copy may have been made from an item that has none any more. */
export async function copyIntoFork(session: Session & ScrubHost, { items, aside, redaction }: ForkPage): Promise<api.Outcome<null>> {
  const { sql, clock } = session.deps;
  const missing = items.filter(({ meta }) => meta.position >= session.state.next_position);
  const bodies = missing.map(({ meta, text }) => ({ id: meta.id, text }));
  const redacted = missing.flatMap((item) => (item.redacted ? [item.meta.id] : []));
  const copied = session.transact((step) => {
    const { positions, texts, isTitleMadeFrom: untitles } = redaction ?? NOTHING_REDACTED;
    const { settings, view } = step.state;
    const hasSummary = (text: OverlayId): boolean => view.overlays.some(({ id, kind }) => id === text && kind === "summary");
    const later = {
      items: readItemsAt(sql, positions).map(toRedacted),
      positions,
      texts: texts.filter(hasSummary),
      isTitleMadeFrom: untitles && settings.title !== null,
    };
    // The content is not learned into memory: the next call seldom reads it.
    const page = { items: missing.map(({ meta }) => meta), aside, redacted };
    const done = step.execute({ type: "CopyMessages", at: clock(), ...page, ...(redaction && { later }) }, bodies);
    if (done.ok && redaction && done.value.length > 0) noteScrub(session);
    return done;
  });
  if (!copied.ok) return err(copied.error);
  if (redaction) {
    session.content.forget();
    await scrubDeleted(session);
  }
  return ok(null);
}

const NOTHING_REDACTED: ForkRedaction = { positions: [], texts: [], isTitleMadeFrom: false };

export function completeFork(session: Session): Promise<api.Outcome<SessionDescription>> {
  if (session.state.fork?.done) return describeSession(session);
  const done = session.execute({ type: "CompleteFork", at: session.deps.clock() });
  return done.ok ? describeSession(session) : Promise.resolve(err(done.error));
}
