/**
 * What a request sends once its conversation was compacted first: the response's note names the compaction. The session of a response that is
 * not stored ends with it or with its connection, so that the compaction's item is made here, with the content: what the model can read as the
 * response begins.
 */
import type { RespondInput } from "../../../app/respond-api";
import type { Outcome } from "../../../app/session-api";
import type { WrittenMessage } from "../../../app/written-message";
import { ok } from "../../../lib/result";
import { readPrincipal } from "../../auth";
import type { Asker, HttpDeps } from "../../deps";
import type { PartInput } from "../../schemas/message";
import type { SessionCalls } from "../../session-calls";
import { sealCompacted } from "../items/compaction-item";
import { toGivenItems, withGivenFiles } from "../items/given-items";
import type { ReadInput } from "../items/transcript";
import { type ResponseAsked, toNote } from "./asked";
import { compactFirst } from "./compact-first";
import { readCompacted } from "./compact-session";
import type { ResponseRequest } from "./request";

interface Preparing {
  readonly c: Asker;
  readonly deps: HttpDeps;
  readonly request: ResponseRequest;
  readonly calls: SessionCalls;
  readonly isThrowaway: boolean;
  /** All that the request brings. */
  readonly given: RespondInput;
  readonly asked: ResponseAsked;
}

interface Prepared {
  /** What is left to send. */
  readonly given: RespondInput;
  readonly asked: ResponseAsked;
  /** The content of the item of a response that is not stored. Null: a stored one, or no compaction. */
  readonly sealed: string | null;
}

export async function compactRequest(preparing: Preparing): Promise<Outcome<Prepared>> {
  const { deps, request, calls, isThrowaway, given, asked } = preparing;
  const compacted = await compactFirst({ calls, schedule: deps.schedule, request, isThrowaway }, given);
  if (!compacted.ok) return compacted;
  const { given: left, made } = compacted.value;
  if (made === null) return ok({ given: left, asked, sealed: null });
  if (isThrowaway) return ok({ given: left, asked, sealed: await sealUnstored(preparing, left) });
  const noted = { ...asked, compaction: made };
  return ok({ given: { ...left, note: toNote(noted) }, asked: noted, sealed: null });
}

/** Null when the session could not be read. */
async function sealUnstored({ c, deps, request, calls, given }: Preparing, left: RespondInput): Promise<string | null> {
  const { input } = request;
  const read = await readCompacted(calls, new Map());
  if (!read.ok) return null;
  const { summary, items } = read.value.compacted;
  const kept = withGivenFiles(items, findGivenFiles(input, given.messages));
  const rest = toGivenItems({
    results: left.results.length > 0 ? input.results : [],
    messages: input.messages.slice(input.messages.length - left.messages.length),
  });
  const by = { sealer: deps.compactionSealer, tenant: readPrincipal(c).tenant };
  return sealCompacted({ summary, items: [...kept, ...rest], session: calls.session }, by);
}

/** The files as the client wrote them, by the id under which the session has them. */
function findGivenFiles({ messages }: ReadInput, written: readonly WrittenMessage[]): ReadonlyMap<string, PartInput> {
  const files = messages.flatMap((message, index) => {
    const taken = written[index];
    if (message.role === "tool" || !taken || !("parts" in taken)) return [];
    return message.parts.flatMap(({ part }, place) => {
      const stored = taken.parts[place];
      return stored && "file_id" in stored && stored.file_id !== undefined ? [[stored.file_id as string, part] as const] : [];
    });
  });
  return new Map(files);
}
