/** Redactions at the same time, and after an overwriting that was cut off: each shares one table of filler in the session's object. */
import { runInDurableObject } from "cloudflare:test";
import { beforeAll, describe, expect, it } from "vitest";
import { type Chat, migrate, newChat, readBody, readStorage } from "../../workers/support";

beforeAll(migrate);

const SECRET = "zqunforgettable";
const MANY = 12;

async function talk(): Promise<{ readonly chat: Chat; readonly said: readonly string[] }> {
  const chat = await newChat();
  for (let n = 0; n < MANY; n++) await chat.say(`${SECRET} ${n}`);
  const { data } = await readBody<{ data: { id: string; role: string }[] }>(await chat.call("GET", "/messages?limit=100"));
  return { chat, said: data.flatMap(({ id, role }) => (role === "user" ? [id] : [])) };
}

const redact = (chat: Chat, message: string) => chat.call("POST", `/messages/${message}/redact`, {});
const readFiller = (chat: Chat) => runInDurableObject(chat.stub, (_, { storage }) => storage.sql.exec("SELECT n FROM scrub").toArray());

describe("redactions", () => {
  it("of many messages at once all succeed, and leave neither text nor filler", async () => {
    const { chat, said } = await talk();

    const answers = await Promise.all(said.map((message) => redact(chat, message)));

    expect(answers.map(({ status }) => status)).toEqual(said.map(() => 200));
    expect(await readStorage(chat.stub)).not.toContain(SECRET);
    expect(await readFiller(chat)).toEqual([]);
  });

  it("succeed after the object died while it overwrote an earlier one", async () => {
    const { chat, said } = await talk();
    await readBody(await redact(chat, said[0] ?? ""));
    await runInDurableObject(chat.stub, (_, { storage }) => {
      for (const n of [-2, -1, 1, 2]) storage.sql.exec("INSERT INTO scrub (n, filler) VALUES (?, zeroblob(1000))", n);
    });

    for (const message of said.slice(1)) await readBody(await redact(chat, message));

    expect(await readStorage(chat.stub)).not.toContain(SECRET);
    expect(await readFiller(chat)).toEqual([]);
  });
});
