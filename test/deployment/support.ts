/** A deployment over SQLite in memory, whose calls of tenants' objects a test answers. */
import type { AssignedLimits } from "../../src/app/tenant-limits-api";
import { openDeployment } from "../../src/deployment/deployment";
import type { TenantId } from "../../src/domain/ids";
import { createEmptySql } from "../tenant/memory-sql";

interface Given {
  readonly sql?: ReturnType<typeof createEmptySql>;
  readonly tell?: (tenant: TenantId, assigned: AssignedLimits) => Promise<{ readonly revision: number } | null>;
  readonly alarms?: number[];
  readonly now?: () => number;
}

const QUIET = { info: () => {}, warn: () => {}, error: () => {} };

export const openForTest = ({ sql = createEmptySql(), tell = async () => null, alarms = [], now = Date.now }: Given = {}) =>
  openDeployment(sql, { tell, setAlarm: (at) => void alarms.push(at), scrub: async () => {}, now, log: QUIET });
