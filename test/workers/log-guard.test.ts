import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { sessionObjectName } from "../../src/app/object-name";
import { type Chat, migrate, newChat, newId } from "./support";

beforeAll(migrate);

/** Runs a statement in the object's own database. Returns the refusal's text, or null. */
const tamper = (chat: Chat, sql: string): Promise<string | null> =>
  runInDurableObject(chat.stub, (_, state) => {
    try {
      state.storage.sql.exec(sql).toArray();
      return null;
    } catch (error) {
      return String(error);
    }
  });

describe("the log in the object's database", () => {
  it.each([
    ["UPDATE", "UPDATE events SET data = '{}' WHERE seq = 1"],
    ["UPDATE of the key", "UPDATE events SET seq = 99 WHERE seq = 1"],
    ["DELETE of one", "DELETE FROM events WHERE seq = 2"],
    ["DELETE of all", "DELETE FROM events"],
    ["INSERT OR REPLACE", "INSERT OR REPLACE INTO events (seq, at, type, version, data) VALUES (1, 0, 'SessionErased', 1, '{}')"],
    ["REPLACE", "REPLACE INTO events (seq, at, type, version, data) VALUES (1, 0, 'SessionErased', 1, '{}')"],
    ["UPDATE OR REPLACE", "UPDATE OR REPLACE events SET seq = 1 WHERE seq = 2"],
    [
      "an upsert",
      "INSERT INTO events (seq, at, type, version, data) VALUES (1, 0, 'x', 1, '{}') ON CONFLICT (seq) DO UPDATE SET data = '{}'",
    ],
    ["INSERT with a gap", "INSERT INTO events (seq, at, type, version, data) VALUES (1000, 0, 'x', 1, '{}')"],
    ["INSERT before the beginning", "INSERT INTO events (seq, at, type, version, data) VALUES (0, 0, 'x', 1, '{}')"],
  ])("refuses %s, and stays as it was", async (_, sql) => {
    const chat = await newChat();
    await chat.say("hello");
    const before = await chat.events();

    const refusal = await tamper(chat, sql);

    expect(refusal).toContain("events are append-only");
    expect(await chat.events()).toEqual(before);
  });

  it("counts from 1 without gaps", async () => {
    const chat = await newChat();
    await chat.say("hello");

    expect((await chat.events()).map((event) => event.seq)).toEqual([...(await chat.events()).keys()].map((index) => index + 1));
  });

  it("holds no text: what was said is in bodies", async () => {
    const chat = await newChat({ system: "MARKER-system", replies: [{ text: "MARKER-reply" }] });
    await chat.say("MARKER-question");

    expect(JSON.stringify(await chat.events())).not.toContain("MARKER");
  });

  it("of an id that was never opened is not even begun: a look-up leaves nothing behind", async () => {
    const { tenant } = await newChat();
    const unknown = newId("ses");
    const stub = env.SESSIONS.getByName(sessionObjectName(tenant.id, unknown));

    const answers = await Promise.all(
      ["", "/messages", "/events", "/context"].map((path) => tenant.call("GET", `/v1/sessions/${unknown}${path}`)),
    );
    const sent = await tenant.call("POST", `/v1/sessions/${unknown}/messages`, { content: "hello" });

    expect([...answers, sent].map(({ status }) => status)).toEqual([404, 404, 404, 404, 404]);
    const left = await runInDurableObject(stub, async (_, state) => ({
      tables: state.storage.sql.exec("SELECT name FROM sqlite_master WHERE name NOT LIKE '\\_cf\\_%' ESCAPE '\\'").toArray(),
      alarm: await state.storage.getAlarm(),
    }));
    expect(left).toEqual({ tables: [], alarm: null });
  });
});
