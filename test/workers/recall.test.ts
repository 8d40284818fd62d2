import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import type { RecallReport } from "../../src/contract/recall";
import { createObjectSql } from "../../src/session/log/do-sql";
import type { WithSql } from "../support/event-log-contract";
import { recallContract } from "../support/recall-contract";
import { migrate, newChat, newTenant, readText } from "./support";

const FILLER = "We talked about the weather, the garden, the neighbours and about nothing in particular for quite a while.";

beforeAll(migrate);

let objects = 0;
const withSql: WithSql = (work) =>
  runInDurableObject(env.SESSIONS.getByName(`recall-${++objects}`), async (_, state) => {
    await work(createObjectSql(state.storage));
  });

describe("over the object's own database", () => recallContract(withSql));

describe("a session", () => {
  it("answers a model that looks up what left its view, and people by the same record", async () => {
    const chat = await newChat({
      window: 2_000,
      maxOutput: 200,
      policy: { preset: "oneclaw" },
      summaries: [{ text: "They talked." }],
    });
    await chat.append("My locker code is 7719-B.");
    for (let message = 0; message < 30; message++) await chat.append(`${FILLER.repeat(3)} ${message}`, message % 2 ? "user" : "assistant");
    const query = JSON.stringify({ query: "locker code" });
    await chat.model.says({ tool_calls: [{ id: "call_1", name: "memory_query", arguments: query }] }, { text: "It is 7719-B." });

    const report = await chat.say("What was the code of my locker?");

    expect(report.status).toBe("completed");
    const results = report.items.filter(({ role }) => role === "tool").map(readText);
    expect(results).toEqual([expect.stringContaining("#1 user: My locker code is 7719-B.")]);

    const found = await chat.read<RecallReport>("/recall?q=lockers%20code");
    expect(found.data[0]).toMatchObject({ kind: "user", in_view: expect.any(Boolean) });
    expect(found.data.find(({ position }) => position === 1)).toMatchObject({ in_view: false, snippet: "My locker code is 7719-B." });
    expect(found.text).toContain("7719-B");
    const [call] = report.items.flatMap(({ tool_calls }) => tool_calls ?? []);
    const fetched = await chat.read<RecallReport>(`/recall?execution_id=${call?.execution_id}`);
    expect(fetched.data.map(({ kind }) => kind)).toEqual(["tool_call", "tool_result"]);
    expect(fetched.text).toContain("7719-B");
  });

  it("of another tenant is not searched", async () => {
    const chat = await newChat();
    await chat.append("My locker code is 7719-B.");
    const stranger = await newTenant();

    const response = await stranger.call("GET", `/v1/sessions/${chat.id}/recall?q=locker`);

    expect(response.status).toBe(404);
    expect(await response.text()).not.toContain("7719");
  });

  it("leaves no term behind when it is erased, and its object goes on as a tombstone", async () => {
    const chat = await newChat();
    await chat.append("My locker code is 7719-B.");
    await chat.read<RecallReport>("/recall?q=locker");

    await chat.call("DELETE", "");

    const terms = await runInDurableObject(chat.stub, (_, state) => state.storage.sql.exec("SELECT term FROM recall_terms").toArray());
    expect(terms).toEqual([]);
    expect((await chat.call("GET", "/recall?q=locker")).status).toBe(404);
  });
});
