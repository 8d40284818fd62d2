import type { AuditEntry, AuditPlace } from "../../src/contract/audit";

/** The file that `GET /v1/audit` sends. */
export const toLines = (owner: string, anchor: AuditPlace, entries: readonly AuditEntry[]): string =>
  [
    { chain: "longhand-audit-1", owner, anchor },
    ...entries,
    { head: { seq: entries.at(-1)?.seq ?? anchor.seq, hash: entries.at(-1)?.hash ?? anchor.hash } },
  ]
    .map((line) => `${JSON.stringify(line)}\n`)
    .join("");
