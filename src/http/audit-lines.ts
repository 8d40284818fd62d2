/** The audit log as lines of JSON: where the chain begins, every entry, and where it ends. docs/audit.md has the form and a program that verifies it. */
import type { AuditPage, AuditQuery } from "../app/audit-api";
import { CHAIN } from "../app/audit-chain";
import type { AuditPlace } from "../contract/audit";

const PAGE = 500;

const ALL: Omit<AuditQuery, "after"> = { limit: PAGE, order: "asc", action: null, actor: null, target: null, from: null, to: null };

/** `owner`: of the chain. */
export interface AuditStart {
  readonly owner: string;
  /** Null: there is no such entry yet. */
  readonly anchor: AuditPlace | null;
}

interface Lines {
  readonly owner: string;
  /** The place before the first line. */
  readonly anchor: AuditPlace;
  /** Throws when the log is out of reach: then the file has no last line, which its reader notices. */
  readonly read: (query: AuditQuery) => Promise<AuditPage>;
}

const toLine = (value: object): string => `${JSON.stringify(value)}\n`;

/** Reads page by page, as the client takes them. Entries that are made meanwhile are in it, too. */
export function streamAuditLines({ owner, anchor, read }: Lines): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let place = anchor;
  return new ReadableStream({
    start: (controller) => controller.enqueue(encoder.encode(toLine({ chain: CHAIN, owner, anchor }))),
    pull: async (controller) => {
      const page = await read({ ...ALL, after: place.seq });
      if (page.anchor.seq > place.seq) throw new Error("Entries were removed while they were read");
      for (const entry of page.data) controller.enqueue(encoder.encode(toLine(entry)));
      const last = page.data.at(-1);
      if (last) place = { seq: last.seq, hash: last.hash };
      if (page.has_more) return;
      controller.enqueue(encoder.encode(toLine({ head: place })));
      controller.close();
    },
  });
}
