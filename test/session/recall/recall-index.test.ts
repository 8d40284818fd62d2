/** The contract of the index, over Node's SQLite. `test/workers/recall.test.ts` runs the same over the object's own. */

import { createNodeSql } from "../../../scripts/support/node-sql";
import type { WithSql } from "../../support/event-log-contract";
import { recallContract } from "../../support/recall-contract";

const withSql: WithSql = async (work) => work(createNodeSql());

recallContract(withSql);
