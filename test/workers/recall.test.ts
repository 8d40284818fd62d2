import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeAll, describe } from "vitest";
import { createObjectSql } from "../../src/session/log/do-sql";
import type { WithSql } from "../support/event-log-contract";
import { recallContract } from "../support/recall-contract";
import { migrate } from "./support";

beforeAll(migrate);

let objects = 0;
const withSql: WithSql = (work) =>
  runInDurableObject(env.SESSIONS.getByName(`recall-${++objects}`), async (_, state) => {
    await work(createObjectSql(state.storage));
  });

describe("over the object's own database", () => recallContract(withSql));
