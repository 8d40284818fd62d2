/** The contract of the session's database, over Node's SQLite. `test/workers` runs it over the object's own. */
import { describe } from "vitest";
import { createNodeSql } from "../../scripts/support/node-sql";
import { eventLogContract } from "../support/event-log-contract";
import { sessionTablesContract } from "../support/session-tables-contract";
import { streamBufferContract } from "../support/stream-buffer-contract";

const withSql = async (work: Parameters<Parameters<typeof eventLogContract>[0]>[0]): Promise<void> => work(createNodeSql());

eventLogContract(withSql);
sessionTablesContract(withSql);
describe("the stored stream", () => streamBufferContract(withSql));
