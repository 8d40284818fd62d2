/** Branches: going back on a new branch, switching to one that was left, and comparing two. */
import { goBack } from "../../app/branch/go-back";
import { switchBranch } from "../../app/branch/switch-branch";
import type { BranchApi } from "../../app/branch-api";
import { buildItem, buildToolsBody } from "../../app/request/build-items";
import type * as api from "../../app/session-api";
import type { BranchComparison, BranchSide, BranchView } from "../../contract/branch";
import type { Accepted, DisplayItem } from "../../contract/item";
import type { Page } from "../../contract/page";
import { commonTo, rangesWithin } from "../../domain/branch";
import type { RewindHistory } from "../../domain/commands";
import type { CoveredRange } from "../../domain/compaction-events";
import type { ItemId, TurnId } from "../../domain/ids";
import type { SessionState } from "../../domain/state";
import { err, ok } from "../../lib/result";
import type { NewBody } from "../log/bodies";
import { readBranchItems } from "../log/branch-items";
import { readBranch, readBranches } from "../log/branch-rows";
import { createSessionPast, findItem } from "../log/session-past";
import type { Step } from "../log/store";
import type { Session } from "../session";
import { readByClientId, readMessages } from "./message-pages";
import { transactOnce } from "./once";
import { askedBy, findAnswer, readRegenerated } from "./repeated-turn";
import { prepareTurn, resolveForTurn } from "./turn-choices";

type InputOf<M extends keyof BranchApi> = Parameters<BranchApi[M]>[1];

export function listBranches({ state, deps }: Session): readonly BranchView[] {
  const rows = readBranches(deps.sql);
  if (rows.length === 0) return [toBranchView(state, { number: 1, parent: null, shared_to: 0, created_at: state.opened_at, left: null })];
  return rows.map((row) => toBranchView(state, row));
}

function toBranchView({ messages, branch, next_position }: SessionState, row: ReturnType<typeof readBranches>[number]): BranchView {
  const { number, parent, shared_to, created_at, left } = row;
  const [elsewhere, last] = left ? [left.elsewhere, left.view.to] : [branch.elsewhere, next_position - 1];
  return {
    number,
    parent,
    shared_to,
    created_at,
    left_at: left?.at ?? null,
    current: number === branch.number,
    messages: left?.messages ?? messages,
    last_position: rangesWithin(elsewhere, { from: 1, to: last }).at(-1)?.to ?? 0,
  };
}

const toPorts = ({ deps }: Session, writer: Step) => ({ writer, clock: deps.clock, past: createSessionPast(deps.sql, writer.state) });

export function rewindFor(
  session: Session,
  { to, idempotency }: InputOf<"rewind">,
): api.Outcome<api.Once<{ readonly branch: BranchView }>> {
  return change(session, idempotency, (step) => goBack(to, { do: "nothing" }, toPorts(session, step)));
}

export function switchFor(
  session: Session,
  { branch, idempotency }: InputOf<"switchBranch">,
): api.Outcome<api.Once<{ readonly branch: BranchView }>> {
  return change(session, idempotency, (step) => switchBranch(branch, toPorts(session, step)));
}

function change(
  session: Session,
  idempotency: api.Idempotency | null,
  work: (step: Step) => api.Outcome<number>,
): api.Outcome<api.Once<{ readonly branch: BranchView }>> {
  const done = transactOnce<{ readonly number: number }>(session, idempotency, (step) => {
    const changed = work(step);
    return changed.ok ? ok({ number: changed.value }) : changed;
  });
  if (!done.ok) return done;
  const { number, replayed } = done.value;
  const branch = listBranches(session).find((row) => row.number === number);
  if (!branch) throw new TypeError("the chosen branch is not listed");
  return ok({ branch, replayed });
}

interface NextTurn {
  readonly to: number;
  readonly then: RewindHistory["then"];
  readonly bodies: readonly NewBody[];
  readonly message: ItemId;
  readonly turn: TurnId;
}

/** Goes back and starts a turn there, in one transaction and once for each idempotency key. */
function goBackAndRun(session: Session, idempotency: api.Idempotency | null, plan: () => api.Outcome<NextTurn>): api.Outcome<Accepted> {
  const cursor = session.buffer.offset;
  return transactOnce<Omit<Accepted, "replayed">>(session, idempotency, (step) => {
    const planned = plan();
    if (!planned.ok) return planned;
    const { to, then, bodies, message, turn } = planned.value;
    session.content.learn(bodies);
    const withBodies: Step = { state: step.state, execute: (command) => step.execute(command, bodies) };
    const gone = goBack(to, then, toPorts(session, withBodies));
    if (!gone.ok) return gone;
    const position = then.do === "answer" ? to : step.state.next_position - 1;
    return ok({ message_id: message, turn_id: turn, position, queued: false, cursor });
  });
}

export async function editMessage(session: Session, input: InputOf<"editMessage">): Promise<api.Outcome<Accepted>> {
  const { message, parts, tools, idempotency } = input;
  const resolved = await resolveForTurn(session, input);
  return goBackAndRun(session, idempotency, () => {
    const { clock, ids, incarnation, sql } = session.deps;
    const { elsewhere } = session.state.branch;
    const named = findItem(sql, message, elsewhere);
    if (!named) return err({ code: "message_not_found", message });
    if (named.kind !== "user") return err({ code: "invalid", field: "message_id", detail: "only a user message can be edited" });
    const { choices, bodies, refusal } = prepareTurn(session, input, { resolved, base: {}, tools });
    if (refusal) return refusal;
    const turn = ids.newId("trn");
    // The words change, and who says them does not.
    const [before] = session.content.readStored([named]);
    const about = { name: before?.name ?? null, metadata: before?.metadata ?? {} };
    const { draft, body } = buildItem({ kind: "user", parts, turn, at: clock(), about }, ids);
    const offered = buildToolsBody(tools, ids);
    const to = readBranchItems(sql, elsewhere, { from: 1, to: named.position - 1, limit: 1, order: "desc" })[0]?.position ?? 0;
    const asked = { item: draft, rest: [], turn, tools: offered.ref, ...choices };
    const then = { do: "ask", message: asked, incarnation, messageLimit: session.limits.messages } as const;
    return ok({ to, then, bodies: [body, ...offered.bodies, ...bodies], message: draft.id, turn });
  });
}

export async function regenerate(session: Session, input: InputOf<"regenerate">): Promise<api.Outcome<Accepted>> {
  const { message, idempotency } = input;
  const resolved = await resolveForTurn(session, input, readRegenerated(session, input));
  return goBackAndRun(session, idempotency, () => {
    const asked = askedBy(session, message);
    if (!asked.ok) return asked;
    const { ids, incarnation } = session.deps;
    const { position: to, id } = asked.value;
    const turn = ids.newId("trn");
    const ended = findAnswer(session, asked.value);
    const { choices, bodies, refusal } = prepareTurn(session, input, { resolved, base: ended ?? {}, tools: null });
    if (refusal) return refusal;
    const tools = ended && session.content.readRefText(ended.tools) !== null ? ended.tools : null;
    const then = { do: "answer", turn, of: ended?.id ?? null, tools, choices, incarnation } as const;
    return ok({ to, then, bodies, message: id, turn });
  });
}

/** The ranges that a branch leaves out, and its last position. Null when there is no such branch. */
function findLine({ state, deps }: Session, number: number): { readonly elsewhere: readonly CoveredRange[]; readonly last: number } | null {
  if (number === state.branch.number) return { elsewhere: state.branch.elsewhere, last: state.next_position - 1 };
  const left = readBranch(deps.sql, number)?.left;
  return left ? { elsewhere: left.elsewhere, last: left.view.to } : null;
}

export function listItems(session: Session, page: Parameters<api.SessionApi["items"]>[1]): api.Outcome<Page<DisplayItem>> {
  const { branch = "current", clientId, ...asked } = page;
  if (clientId !== undefined) return ok({ data: readByClientId(session, clientId), has_more: false });
  const number = branch === "current" || branch === "all" ? session.state.branch.number : branch;
  const line = findLine(session, number);
  if (!line) return err({ code: "branch_not_found", branch: number });
  return ok(readMessages(session, branch === "all" ? { ...line, elsewhere: [] } : line, asked));
}

export function compareBranches(session: Session, asked: InputOf<"compareBranches">): api.Outcome<BranchComparison> {
  const { limit } = asked;
  const b = asked.b ?? session.state.branch.number;
  const a = asked.a ?? readBranch(session.deps.sql, b)?.parent ?? b;
  const [one, other] = [findLine(session, a), findLine(session, b)];
  if (!one) return err({ code: "branch_not_found", branch: a });
  if (!other) return err({ code: "branch_not_found", branch: b });
  const shared_to = commonTo(toEndRanges(one), toEndRanges(other), Math.max(one.last, other.last));
  const side = (number: number, line: typeof one): BranchSide => {
    const { data, has_more } = readMessages(session, line, { after: shared_to, limit, order: "asc" });
    return { number, items: data, has_more };
  };
  const past = createSessionPast(session.deps.sql, session.state);
  const shared_messages = past.countMessages(rangesWithin(one.elsewhere, { from: 1, to: shared_to }));
  return ok({ shared_to, shared_messages, a: side(a, one), b: side(b, other) });
}

/** The ranges that are not on the branch. Everything after its last position is not on it either. */
const toEndRanges = ({
  elsewhere,
  last,
}: {
  readonly elsewhere: readonly CoveredRange[];
  readonly last: number;
}): readonly CoveredRange[] => [...elsewhere, { from: last + 1, to: Number.MAX_SAFE_INTEGER }];
