/** The contract of the index, over Node's SQLite. `test/workers/recall.test.ts` runs it over the object's own. */

import { expect, test } from "vitest";
import { createNodeSql } from "../../../scripts/support/node-sql";
import { lookUp, type RecallPorts } from "../../../src/session/recall/recall";
import { readWatermark } from "../../../src/session/recall/recall-index";
import type { WithSql } from "../../support/event-log-contract";
import { recallContract } from "../../support/recall-contract";
import { buildRecord } from "../../support/recall-record";

const withSql: WithSql = async (work) => work(createNodeSql());

recallContract(withSql);

test("others have their turn between two pages of a backlog", async () => {
  const sql = createNodeSql();
  const ports = buildRecord(
    sql,
    Array.from({ length: 1_000 }, (_, index) => ({ kind: "user", text: `nothing much happened on walk ${index}` })),
  );
  const reached: number[] = [];
  const schedule: RecallPorts["schedule"] = (wait, work) => {
    reached.push(readWatermark(sql));
    return ports.schedule(wait, work);
  };

  await lookUp({ query: "walk 999" }, { hiddenOnly: true, limit: 9 }, { ...ports, schedule });

  expect(reached).toEqual([256, 512, 768]);
});
