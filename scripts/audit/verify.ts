/**
 * Verifies an exported audit log, as `GET /v1/audit` sends it with `Accept: application/x-ndjson`. It shares no code with the service: what it
 * accepts is what docs/audit.md says.
 */
import { createHash } from "node:crypto";

/** `form`: it is no such file. `cut`: the last line is missing. `order`: an entry is missing, repeated or moved. `hash`: an entry was changed. */
export type AuditFault = "form" | "genesis" | "order" | "link" | "hash" | "cut" | "head";
export type Verdict =
  | { readonly ok: true; readonly entries: number; readonly seq: number; readonly hash: string }
  | { readonly ok: false; readonly line: number; readonly fault: AuditFault };

type Fields = Readonly<Record<string, unknown>>;

const isFields = (value: unknown): value is Fields => typeof value === "object" && value !== null && !Array.isArray(value);

function toCanonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(toCanonical).join(",")}]`;
  if (!isFields(value)) return JSON.stringify(value);
  const members = Object.keys(value).sort();
  return `{${members.map((name) => `${JSON.stringify(name)}:${toCanonical(value[name])}`).join(",")}}`;
}

const hashValue = (value: unknown): string => createHash("sha256").update(toCanonical(value)).digest("hex");

function parseLine(text: string): Fields | null {
  try {
    const parsed: unknown = JSON.parse(text);
    return isFields(parsed) ? parsed : null;
  } catch {
    return null;
  }
}

interface Place {
  readonly seq: number;
  readonly hash: string;
}

function toPlace(value: unknown): Place | null {
  if (!isFields(value)) return null;
  const { seq, hash } = value;
  return typeof seq === "number" && typeof hash === "string" ? { seq, hash } : null;
}

function findFault(before: Place, { hash, ...entry }: Fields): AuditFault | null {
  if (entry.seq !== before.seq + 1) return "order";
  if (entry.prev !== before.hash) return "link";
  return hashValue(entry) === hash ? null : "hash";
}

/** The entries from `before` on, without the last line of the file. Line 1 says where they begin. */
function follow(before: Place, entries: readonly (Fields | null)[], known: Place | undefined): Place | Verdict {
  let place = before;
  for (const [index, entry] of entries.entries()) {
    const fault = entry ? findFault(place, entry) : "form";
    if (fault) return { ok: false, line: index + 2, fault };
    place = toPlace(entry) ?? place;
    if (known?.seq === place.seq && known.hash !== place.hash) return { ok: false, line: index + 2, fault: "head" };
  }
  return place;
}

/** `known`: a place that the reader kept earlier. The file must have it, or begin after it. */
export function verifyAudit(text: string, known?: Place): Verdict {
  const [first, ...rest] = text.replace(/\n$/, "").split("\n").map(parseLine);
  const anchor = toPlace(first?.anchor);
  if (!first || !anchor) return { ok: false, line: 1, fault: "form" };
  const isGenesis = anchor.hash === hashValue({ chain: first.chain, owner: first.owner });
  if (anchor.seq === 0 && !isGenesis) return { ok: false, line: 1, fault: "genesis" };
  const head = toPlace(rest.at(-1)?.head);
  const end = follow(anchor, head ? rest.slice(0, -1) : rest, known);
  if ("ok" in end) return end;
  const line = rest.length + 1;
  if (!head) return { ok: false, line, fault: "cut" };
  const isEnd = head.seq === end.seq && head.hash === end.hash && (known === undefined || known.seq <= head.seq);
  return isEnd ? { ok: true, entries: rest.length - 1, ...head } : { ok: false, line, fault: "head" };
}
