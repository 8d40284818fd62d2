/** The contract of the session's database, over a Durable Object's own SQLite. */
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe } from "vitest";
import { createObjectSql } from "../../src/session/log/do-sql";
import { eventLogContract, type WithSql } from "../support/event-log-contract";
import { sessionTablesContract } from "../support/session-tables-contract";
import { streamBufferContract } from "../support/stream-buffer-contract";

let objects = 0;

const withSql: WithSql = (work) =>
  runInDurableObject(env.SESSIONS.getByName(`contract-${++objects}`), async (_, state) => {
    await work(createObjectSql(state.storage));
  });

eventLogContract(withSql);
sessionTablesContract(withSql);
describe("the stored stream", () => streamBufferContract(withSql));
