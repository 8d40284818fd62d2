/**
 * Resolves the files of a message before its session accepts it: data URLs become stored files, and the tenant's object notes that the session
 * is about to refer to each file.
 */
import type { FileFacts } from "../app/file-api";
import type { FileId, SessionId, TenantId } from "../domain/ids";
import { fromBase64 } from "../lib/base64";
import { err, ok, type Result } from "../lib/result";
import { callWithRetry } from "./calls";
import type { HttpDeps } from "./deps";
import type { HttpError } from "./problem";
import { type Content, isMediaInput, type MediaPartInput, type PartInput } from "./schemas/message";
import { storeFile } from "./store-file";

interface Place {
  readonly tenant: TenantId;
  readonly session: SessionId;
  /** The field of the request that holds the content, for refusals. */
  readonly field?: string;
}

type Taken = Result<PartInput, HttpError>;

/** The content with all facts of its files. Content without files comes back as it is, and nothing is asked. */
export async function takeFiles<C extends Content | undefined>(
  deps: HttpDeps,
  place: Place,
  content: C,
): Promise<Result<C | Content, HttpError>> {
  if (content === undefined || typeof content === "string" || !content.some(isStoredOrData)) return ok(content);
  const { tenant, session, field = "content" } = place;
  const parts: PartInput[] = [];
  for (const [index, part] of content.entries()) {
    const stored = await storeData(deps, { tenant, field: `${field}.${index}.url` }, part);
    if (!stored.ok) return stored;
    parts.push(stored.value);
  }
  const files = [...new Set(parts.flatMap((part) => (isMediaInput(part) && part.file_id ? [part.file_id] : [])))];
  const used = await callWithRetry(
    () => deps.tenants(tenant),
    (api) => api.useFiles({ session, files }),
  );
  if (!used.ok) return err(used.error.code === "file_not_found" ? refuseUnknown(parts, used.error.file, field) : used.error);
  const facts = new Map(used.value.map((each) => [each.file_id, each]));
  return ok(parts.map((part) => (isMediaInput(part) && part.file_id ? fill(part, facts.get(part.file_id)) : part)));
}

const isStoredOrData = (part: PartInput): boolean =>
  isMediaInput(part) && (part.file_id !== undefined || part.url?.slice(0, "data:".length).toLowerCase() === "data:");

function refuseUnknown(parts: readonly PartInput[], file: string, field: string): HttpError {
  const index = parts.findIndex((part) => isMediaInput(part) && part.file_id === file);
  return { code: "invalid_request", errors: [{ field: `${field}.${index}.file_id`, detail: "no such file" }] };
}

/** The part's own name goes before the file's. Its type is always the file's. */
function fill({ type, file_id, name: own }: MediaPartInput, facts: FileFacts | undefined): PartInput {
  if (!facts) throw new Error("A file that was noted has no facts");
  const { media_type, bytes, tokens } = facts;
  const name = own ?? facts.name;
  return { type, file_id, media_type, bytes, tokens, ...(name !== null && { name }) };
}

/** Stores the content of a data URL. Any other part comes back as it is. */
async function storeData(
  deps: HttpDeps,
  { tenant, field }: { readonly tenant: TenantId; readonly field: string },
  part: PartInput,
): Promise<Taken> {
  if (!isMediaInput(part) || part.url === undefined || !isStoredOrData(part)) return ok(part);
  const comma = part.url.indexOf(",");
  const bytes = fromBase64(part.url.slice(comma + 1));
  if (!bytes || bytes.byteLength === 0) return err({ code: "invalid_request", errors: [{ field, detail: "not base64" }] });
  const declared = part.url.slice("data:".length, comma).split(";")[0]?.trim().toLowerCase() ?? "";
  const body = new Blob([bytes]).stream();
  const name = part.name ?? null;
  const stored = await storeFile(deps, tenant, { field, name, declared, body, bytes: bytes.byteLength, identify: async () => null });
  if (!stored.ok) return stored;
  const file_id: FileId = stored.value.file.id;
  return ok({ type: part.type, file_id, ...(part.name !== undefined && { name: part.name }) });
}
