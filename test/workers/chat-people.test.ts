/** The people of a channel in workerd: who is unpaired, and who is erased. */
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { findWords } from "../../src/app/channels/words";
import { newChannelChat } from "./channel-chat";
import { advanceClock, restoreClock } from "./clock";
import { migrate, readBody } from "./support";

beforeAll(migrate);
afterEach(restoreClock);

const EN = findWords("en");

describe("a person who is unpaired", () => {
  it("is a stranger to the bot within 30 seconds, also in the chat in which they were paired", async () => {
    const chat = await newChannelChat({ access: { mode: "pairing" } });
    const { code } = await readBody<{ code: string }>(await chat.tenant.call("POST", "/v1/channels/desk/pairing-codes"), 201);
    await chat.says({ text: "Good day." });
    await chat.write({ text: code });
    await chat.taken(1);
    await chat.write({ text: "Hello." });
    await chat.taken(2);

    expect((await chat.tenant.call("DELETE", "/v1/channels/desk/users/ada")).status).toBe(204);
    advanceClock(30_000);
    await chat.write({ text: "Are you there?" });

    expect((await chat.taken(3)).map(({ text }) => text)).toEqual([EN.paired, "Good day.", EN.pair]);
    expect(await chat.model.heard()).toHaveLength(1);
  });
});
