/** All rows of one session at once, and a complete rebuild, for tests with small sessions. */
import type { Row, RowSnapshot } from "../../src/app/diff-rows";
import { rebuildStep } from "../../src/app/projection/rebuild";
import type { RebuildPorts, RebuildProgress } from "../../src/app/projection/rebuild-ports";
import type { Caller, Outcome } from "../../src/app/session-api";
import type { RowDifference } from "../../src/contract/rebuild";
import { ok } from "../../src/lib/result";
import { TABLES } from "../../src/read-model/store";

/** Tables that have something of a session after its erasure, and no row of it before. */
export const LEFT_OF_ERASED = ["session_tombstones", "erased_usage"];

/** A search row's number says nothing of the session. */
const withoutNumber = ({ id: _, ...row }: Row): Row => row;

/** By table and by the row's name within the session, without the tenant. */
export async function readRows(db: D1Database, { tenant, session }: Caller): Promise<RowSnapshot> {
  const snapshot: Record<string, Record<string, Row>> = {};
  for (const { name: table, session: owner, key } of TABLES) {
    const found = await db
      .prepare(`SELECT * FROM ${table} WHERE tenant_id = ? AND ${owner} = ? ORDER BY ${key}`)
      .bind(tenant, session)
      .all<Row>();
    const rows = found.results.map(({ tenant_id: _, ...row }) => (table === "search_rows" ? withoutNumber(row) : row));
    snapshot[table] = Object.fromEntries(rows.map((row) => [String(row[key]), row]));
  }
  return snapshot;
}

export interface Rebuilt {
  readonly session: string;
  readonly differences: readonly RowDifference[];
  readonly repaired: boolean;
  readonly rows: number;
  readonly steps: number;
}

/** Step by step, as the script does it. The state between two steps is JSON. */
export async function rebuildSession(ports: RebuildPorts, at: Caller): Promise<Outcome<Rebuilt>> {
  const differences: RowDifference[] = [];
  let from: RebuildProgress | null = null;
  for (let steps = 1; ; steps++) {
    const step = await rebuildStep(ports, at, from);
    if (!step.ok) return step;
    const { session_id: session, repaired, rows, next } = step.value;
    differences.push(...step.value.differences);
    if (!next) return ok({ session, differences, repaired: repaired === true, rows, steps });
    from = JSON.parse(JSON.stringify(next)) as RebuildProgress;
  }
}
