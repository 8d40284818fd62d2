/**
 * Resolves the files of messages before their session accepts them: data URLs become stored files, and the tenant's object notes that the
 * session is about to refer to each file. However many messages a request has, the tenant's object is asked once for the files that they name,
 * and once more for those that came as data URLs.
 */
import type { FileFacts, FileUse } from "../app/file-api";
import type { FileId, SessionId } from "../domain/ids";
import { err, ok, type Result } from "../lib/result";
import { isHeldToSome, readPrincipal } from "./auth";
import { callWithRetry } from "./calls";
import { isDataUrl, readDataUrl } from "./data-url";
import type { Asker, HttpDeps } from "./deps";
import type { HttpError } from "./problem";
import { type Content, isMediaInput, type MediaPartInput, type PartInput } from "./schemas/message";
import { findSession } from "./session-calls";
import { storeFile } from "./store-file";

/** Each data URL of a request is an upload of its own. More files than that are uploaded first, and named. */
const MAX_DATA_URLS = 128;

/** Contents of one request by the field that holds each, and the session that is to receive them. */
interface Request<C> {
  readonly session: SessionId;
  readonly contents: readonly { readonly field: string; readonly content: C }[];
  /** The session is a throwaway session: what comes as a data URL ends with it, and what is named stays. */
  readonly isThrowaway?: boolean;
}

/** A part of the request that names a file, or is one. */
interface Place {
  readonly field: string;
  readonly part: MediaPartInput;
}

type Facts = ReadonlyMap<string, FileFacts>;

/** The content with all facts of its files. Content without files comes back as it is, and nothing is asked. */
export async function takeFiles<C extends Content | undefined>(
  c: Asker,
  deps: HttpDeps,
  { session, content }: { readonly session: SessionId; readonly content: C },
): Promise<Result<C | Content, HttpError>> {
  const taken = await takeAllFiles(c, deps, { session, contents: [{ field: "content", content }] });
  return taken.ok ? ok(taken.value[0] ?? content) : taken;
}

/** The contents in their order. One file that is missing refuses all of them. */
export async function takeAllFiles<C extends Content | undefined>(
  c: Asker,
  deps: HttpDeps,
  { session, contents, isThrowaway = false }: Request<C>,
): Promise<Result<readonly (C | Content)[], HttpError>> {
  const places = contents.flatMap(listPlaces);
  if (places.length === 0) return ok(contents.map(({ content }) => content));
  const [data, named] = [places.filter(({ part }) => isData(part)), places.filter(({ part }) => part.file_id !== undefined)];
  const excess = data[MAX_DATA_URLS];
  if (excess) return refuse(`${excess.field}.url`, `at most ${MAX_DATA_URLS} data URLs in one request`);
  const refused = await refuseForeignSession(c, deps, session);
  if (refused) return err(refused);
  const principal = readPrincipal(c);
  const sessionsOnly = principal.access_token !== undefined || isHeldToSome(principal);
  const known = await useFiles(c, deps, { session, places: named, sessionsOnly, throwaway: isThrowaway ? "names" : null });
  if (!known.ok) return known;
  const stored = await storeAll(c, deps, { places: data, throwaway: isThrowaway ? session : null });
  if (!stored.ok) return stored;
  const added =
    data.length === 0
      ? known
      : await useFiles(c, deps, { session, places: stored.value, sessionsOnly: false, throwaway: isThrowaway ? "owns" : null });
  if (!added.ok) return added;
  const ids = new Map(stored.value.map(({ field, part }) => [field, part]));
  const facts = new Map([...known.value, ...added.value]);
  return ok(contents.map((each) => fillContent(each, { ids, facts })));
}

const refuse = (field: string, detail: string) => err({ code: "invalid_request" as const, errors: [{ field, detail }] });

const isData = ({ url }: MediaPartInput): boolean => isDataUrl(url);

function listPlaces({ field, content }: { readonly field: string; readonly content: Content | undefined }): Place[] {
  if (content === undefined || typeof content === "string") return [];
  return content.flatMap((part, index) =>
    isMediaInput(part) && (part.file_id !== undefined || isData(part)) ? [{ field: `${field}.${index}`, part }] : [],
  );
}

/** An end user's token or a restricted key names any session in its path. Nothing is stored for one that it does not reach. */
async function refuseForeignSession(c: Asker, deps: HttpDeps, session: SessionId): Promise<HttpError | null> {
  if (!isHeldToSome(readPrincipal(c))) return null;
  const found = await findSession(deps, c, session);
  return found.ok ? null : found.error;
}

interface Use {
  readonly session: SessionId;
  readonly places: readonly Place[];
  /** True for an access token, and for a key that is held to some sessions: it names only files that its session refers to already, because a reply may tell what a file holds. */
  readonly sessionsOnly: boolean;
  /** Null: the session stays. */
  readonly throwaway: FileUse["throwaway"] | null;
}

async function useFiles(c: Asker, deps: HttpDeps, { session, places, sessionsOnly, throwaway }: Use): Promise<Result<Facts, HttpError>> {
  const files = [...new Set(places.flatMap(({ part }) => part.file_id ?? []))];
  const used = await callWithRetry(
    () => deps.tenants(readPrincipal(c).tenant),
    (api) => api.useFiles({ session, files, ...(sessionsOnly && { sessionsOnly }), ...(throwaway && { throwaway }) }),
  );
  if (used.ok) return ok(new Map(used.value.map((each) => [each.file_id, each])));
  const { error } = used;
  if (error.code !== "file_not_found") return err(error);
  return refuse(`${places.find(({ part }) => part.file_id === error.file)?.field}.file_id`, "no such file");
}

/** Notes that a copy is about to refer to files. False: the copy was erased meanwhile. */
export async function holdFiles(c: Asker, deps: HttpDeps, copied: Pick<FileUse, "session" | "files" | "throwaway">): Promise<boolean> {
  const held = await callWithRetry(
    () => deps.tenants(readPrincipal(c).tenant),
    (api) => api.useFiles({ ...copied, skipMissing: true }),
  );
  if (!held.ok && held.error.code !== "session_erased") throw new Error(held.error.code);
  return held.ok;
}

interface Storing {
  readonly places: readonly Place[];
  /** The throwaway session that the files end with. Null: the session stays. */
  readonly throwaway: SessionId | null;
}

/** The places with the ids of the files that were stored. */
async function storeAll(c: Asker, deps: HttpDeps, { places, throwaway }: Storing): Promise<Result<readonly Place[], HttpError>> {
  const stored: Place[] = [];
  for (const { field, part } of places) {
    const file = await storeData(c, deps, { field: `${field}.url`, part, throwaway });
    if (!file.ok) return file;
    const { type, name } = part;
    stored.push({ field, part: { type, file_id: file.value, ...(name !== undefined && { name }) } });
  }
  return ok(stored);
}

async function storeData(
  c: Asker,
  deps: HttpDeps,
  { field, part, throwaway }: Place & Pick<Storing, "throwaway">,
): Promise<Result<FileId, HttpError>> {
  const { url, name = null } = part;
  const data = readDataUrl(url);
  if (!data?.bytes?.byteLength) return refuse(field, "not base64");
  const { mediaType: declared, bytes } = data;
  const body = new Blob([bytes]).stream();
  const { tenant } = readPrincipal(c);
  const owner = throwaway ? { throwaway } : {};
  const stored = await storeFile(deps, tenant, {
    ...{ field, name, declared, body, bytes: bytes.byteLength, ...owner },
    identify: async () => null,
  });
  return stored.ok ? ok(stored.value.file.id) : stored;
}

interface Known {
  /** The stored file in place of a data URL, by its field. */
  readonly ids: ReadonlyMap<string, MediaPartInput>;
  readonly facts: Facts;
}

function fillContent<C extends Content | undefined>(
  { field, content }: { readonly field: string; readonly content: C },
  { ids, facts }: Known,
): C | Content {
  if (content === undefined || typeof content === "string") return content;
  return content.map((part, index): PartInput => {
    const named = isMediaInput(part) ? (ids.get(`${field}.${index}`) ?? part) : null;
    return named?.file_id === undefined ? part : fill(named, facts.get(named.file_id));
  });
}

/** The part's own name goes before the file's. Its type is always the file's. */
function fill({ type, file_id, name: own }: MediaPartInput, facts: FileFacts | undefined): PartInput {
  if (!facts) throw new Error("A file that was noted has no facts");
  const { media_type, bytes, tokens } = facts;
  const name = own ?? facts.name;
  return { type, file_id, media_type, bytes, tokens, ...(name !== null && { name }) };
}
