/**
 * Finds the response that an input goes on behind, where the request names none: its input repeats the conversation up to that response, with
 * names for what the model said. Such a request is answered as if it had named the response, with what is new alone. Where a compaction of the
 * session stands for the beginning, the input repeats what follows it.
 */

import { z } from "@hono/zod-openapi";
import { cutToolResult } from "../../../context/cut-result";
import type { DisplayItem } from "../../../contract/item";
import type { TurnReport } from "../../../contract/turn";
import type { ExecutionId, FileId, ItemId, SessionId } from "../../../domain/ids";
import type { Result } from "../../../lib/result";
import { sha256 } from "../../../lib/sha256";
import { giveWay } from "../../../lib/timer";
import { readPrincipal } from "../../auth";
import { callWithRetry } from "../../calls";
import { readDataUrl } from "../../data-url";
import type { Asker, HttpDeps } from "../../deps";
import type { HttpError } from "../../problem";
import { type SessionCalls, sessionClient } from "../../session-calls";
import type { NamedLeg } from "../../surface/ids";
import { type AskedCall, readRuns, sortRuns, type WhoRuns } from "../../surface/read-runs";
import { OpenedItems, type StartPlace } from "../items/compaction-item";
import { CopiedItem } from "../items/copied-item";
import { parseItemName } from "../items/item-names";
import { readInputItems } from "../items/read-items";
import type { ReadInput } from "../items/transcript";
import { endsLeg, splitLegs } from "./leg";
import { compareInput, type FileNames, type Repeated, splitInput } from "./match-conversation";
import type { ResponseRequest } from "./request";
import { type ResponseAsking, type StartedResponse, startResponse } from "./start-response";

/** An item that the input names, and a branch of its session that has it. Null: the branch is not known yet. */
interface LastNamed {
  readonly session: SessionId;
  readonly id: ItemId;
  readonly branch: number | null;
}

const named = z.looseObject({ id: z.string() });

/** What the model said last, as far as the input names it, decides which session may be meant. */
function findLastNamed(items: readonly unknown[]): LastNamed | null {
  for (const item of items.toReversed()) {
    if (item instanceof CopiedItem) return { session: item.session, id: item.message, branch: item.branch };
    const read = named.safeParse(item);
    const name = read.success ? parseItemName(read.data.id) : null;
    if (name?.session) return { session: name.session, id: name.id, branch: null };
  }
  return null;
}

/** Starts the response where it goes on. A place that is gone meanwhile, or that refuses the request, is none: the input says all of it. */
export async function startContinued(
  asking: ResponseAsking,
): Promise<{ readonly request: ResponseRequest; readonly started: Result<StartedResponse, HttpError> }> {
  const request = await continueByNames(asking.c, asking.deps, asking.request);
  const started = await startResponse({ ...asking, request });
  if (started.ok || request === asking.request || !REFUSED.has(started.error.code)) return { request, started };
  // No other session has the calls that are approved.
  if (request.input.approvals.length > 0) return { request, started };
  return { request: asking.request, started: await startResponse(asking) };
}

/** Refusals that nothing was recorded with, and that are about the place or may be. */
const REFUSED: ReadonlySet<HttpError["code"]> = new Set([
  "session_not_found",
  "session_erased",
  "turn_not_found",
  "invalid_request",
  "invalid",
  "too_many_items",
  "storage_full",
]);

/** The request comes back as it is where nothing is continued. Its references are opened. */
async function continueByNames(c: Asker, deps: HttpDeps, request: ResponseRequest): Promise<ResponseRequest> {
  const { store, input: items } = request.body;
  if (request.place.kind !== "nothing" || store === false || !Array.isArray(items)) return request;
  const last = findLastNamed(items);
  if (!last) return request;
  const start = findStart(items, last.session);
  const given = readInputItems(start?.rest ?? items, "input", { withRequests: true });
  if (!given.ok) return request;
  const files = await nameFiles(given.value);
  const repeated = splitInput(given.value, (part) => files.get(part) ?? listNames(part));
  if (!repeated) return request;
  const calls = sessionClient(deps, c, last.session);
  const findDigests: Comparing["findDigests"] = (known) => readDigests(c, deps, { files, known });
  const found = await compareWith(calls, { last, repeated, findDigests, start: start?.place ?? null });
  if (!found) return request;
  const { results, approvals } = found;
  const input = { ...request.input, messages: repeated.rest, results, approvals };
  const isNew = input.messages.length + results.length + approvals.length > 0;
  return isNew ? { ...request, input, place: { kind: "response", previous: found.leg } as const } : request;
}

/** Where what the input repeats begins. Null: with the conversation. `rest`: the input without what is before, in the same places. */
function findStart(items: readonly unknown[], session: SessionId) {
  const index = items.findLastIndex((item) => item instanceof OpenedItems && item.place?.session === session);
  const opened = items[index];
  if (!(opened instanceof OpenedItems) || !opened.place) return null;
  return { place: opened.place, rest: items.with(index, new OpenedItems([])) };
}

type FilePart = { readonly type: string; readonly url?: string | undefined; readonly file_id?: string | undefined };
type Files = ReadonlyMap<FilePart, FileNames>;

const listNames = ({ url, file_id }: FilePart): FileNames => [
  ...(url === undefined ? [] : [url]),
  ...(file_id === undefined ? [] : [file_id]),
];

const DIGEST = "sha256:";

/** The data URLs of the input by their content: the session has them as stored files. */
async function nameFiles({ messages }: ReadInput): Promise<Files> {
  const parts = messages.flatMap((message): readonly FilePart[] => (message.role === "tool" ? [] : message.parts.map(({ part }) => part)));
  const files = new Map<FilePart, FileNames>();
  for (const part of parts) {
    const bytes = readDataUrl(part.url)?.bytes;
    if (bytes) files.set(part, [`${DIGEST}${await sha256(bytes)}`]);
  }
  return files;
}

interface Digesting {
  readonly files: Files;
  readonly known: readonly DisplayItem[];
}

/** Looks the stored files of messages up. Without data URLs in the input nothing is asked. */
async function readDigests(c: Asker, deps: HttpDeps, { files, known }: Digesting): Promise<ReadonlyMap<FileId, string>> {
  if (files.size === 0) return new Map();
  const stored = new Set(known.flatMap(({ content }) => content.flatMap((part) => ("file_id" in part ? [part.file_id] : []))));
  const { tenant } = readPrincipal(c);
  const read = await Promise.all(
    [...stored].map(async (file) => {
      const found = await callWithRetry(
        () => deps.tenants(tenant),
        (api) => api.getFile(file),
      );
      return found.ok ? [[file, `${DIGEST}${found.value.sha256}`] as const] : [];
    }),
  );
  return new Map(read.flat());
}

interface Comparing {
  readonly last: LastNamed;
  readonly repeated: Repeated;
  readonly findDigests: (known: readonly DisplayItem[]) => Promise<ReadonlyMap<FileId, string>>;
  /** Null: the beginning of the conversation. */
  readonly start: StartPlace | null;
}

interface Continued extends Pick<ReadInput, "results" | "approvals"> {
  readonly leg: NamedLeg;
}

/** Null when the session cannot be read, too: the input says all of it. */
async function compareWith(calls: SessionCalls, { last, repeated, findDigests, start }: Comparing): Promise<Continued | null> {
  const [branch, described] = await Promise.all([findBranch(calls, last), calls.repeatable((api, caller) => api.describe(caller))]);
  if (branch === null || !described.ok) return null;
  const { results: bounds } = described.value.effective_policy;
  const cut = (output: string): string => cutToolResult(output, bounds);
  const read = new ReadSoFar(calls, { branch, findDigests, start });
  while (await read.readMore()) {
    const { messages, ranHere, approvals, isWhole } = read;
    // The place is on another branch than what the model said last.
    if (start && messages[0]?.turn_id !== start.turn) return null;
    const nameFile = (part: FilePart): FileNames => read.nameFile(part);
    const compared = compareInput(repeated, { session: calls.session, messages, ranHere, approvals, nameFile, cut }, isWhole);
    if (compared.outcome === "differs") return null;
    if (compared.outcome === "longer") {
      await giveWay();
      continue;
    }
    const leg = await findLeg(calls, { reply: messages[compared.nth], ranHere, approvals });
    return leg && { leg, results: compared.results, approvals: compared.approvals };
  }
  return null;
}

const PAGE = 200;

interface Reading extends Pick<Comparing, "findDigests" | "start"> {
  readonly branch: number;
}

/** The conversation from its beginning or from a place on, as far as it was read. */
class ReadSoFar {
  readonly messages: DisplayItem[] = [];
  readonly ranHere = new Set<ExecutionId>();
  readonly approvals = new Map<ExecutionId, AskedCall>();
  isWhole = false;
  readonly #digests = new Map<string, string>();
  readonly #calls: SessionCalls;
  readonly #asked: Reading;

  constructor(calls: SessionCalls, asked: Reading) {
    this.#calls = calls;
    this.#asked = asked;
  }

  /** False when nothing more can be read. */
  async readMore(): Promise<boolean> {
    if (this.isWhole) return false;
    const [calls, { branch, findDigests, start }] = [this.#calls, this.#asked];
    const after = (this.messages.at(-1) ?? start)?.position ?? null;
    const page = await calls.repeatable((api, caller) => api.items(caller, { after, limit: PAGE, order: "asc", branch }));
    if (!page.ok) return false;
    const { data, has_more } = page.value;
    const runs = await readRuns(calls, data);
    if (!runs.ok) return false;
    for (const [file, name] of await findDigests(data)) this.#digests.set(file, name);
    const { ranHere, approvals } = sortRuns(runs.value);
    for (const id of ranHere) this.ranHere.add(id);
    for (const [id, call] of approvals) this.approvals.set(id, call);
    this.messages.push(...data);
    this.isWhole = !has_more || data.length === 0;
    return true;
  }

  nameFile(part: FilePart): FileNames {
    const digest = this.#digests.get(part.file_id ?? "");
    return [...listNames(part), ...(digest === undefined ? [] : [digest])];
  }
}

async function findBranch(calls: SessionCalls, { id, branch }: LastNamed): Promise<number | null> {
  if (branch !== null) return branch;
  const found = await calls.repeatable((api, caller) => api.named(caller, { ids: [id] }));
  return found.ok ? (found.value.data[0]?.branch ?? null) : null;
}

interface Ending extends WhoRuns {
  readonly reply: DisplayItem | undefined;
}

const ENDED: ReadonlySet<TurnReport["status"]> = new Set(["completed", "failed", "stopped", "interrupted"]);

/** The response that the reply ends. Null when it ends none: it is a client's own, or its turn still says more. */
async function findLeg(calls: SessionCalls, { reply, ...who }: Ending): Promise<NamedLeg | null> {
  const turn = reply?.turn_id;
  if (!turn) return null;
  const report = await calls.repeatable((api, caller) => api.turn(caller, turn));
  if (!report.ok || report.value.items_truncated) return null;
  const { items, status } = report.value;
  const legs = splitLegs(items, who);
  const index = legs.findIndex((messages) => messages.findLast(({ role }) => role === "assistant")?.id === reply.id);
  if (index < 0 || (!endsLeg(reply, who) && !ENDED.has(status))) return null;
  return { session: calls.session, turn, leg: index + 1 };
}
