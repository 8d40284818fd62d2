/** Who may talk to the bot, and for how long a chat believes it. */
import { describe, expect, it } from "vitest";
import { PAIRED_MS } from "../../src/app/channels/access";
import { findWords } from "../../src/app/channels/words";
import { LOOK_UP_TTL_MS } from "../../src/tenant/look-ups/look-up-cache";
import { ChatWorld, toMessage } from "./chat-life";

const EN = findWords("en");

describe("a person who was paired in the chat", () => {
  it("is known there until every cache of the channel's settings is renewed, and then by these alone", async () => {
    expect(PAIRED_MS).toBe(LOOK_UP_TTL_MS);
    const world = new ChatWorld({ settings: { access: { mode: "pairing", users: [] } } });
    await world.receive(toMessage("CODE-1234", { id: "d1" }));
    await world.advance(PAIRED_MS - 1);
    await world.receive(toMessage("Hello.", { id: "d2" }));
    await world.answer("Good day.");
    expect(world.texts).toEqual([EN.paired, "Good day."]);

    // The settings do not have the person: unpaired meanwhile.
    await world.advance(1);
    await world.receive(toMessage("And now?", { id: "d3" }));
    expect(world.texts.at(-1)).toBe(EN.pair);
    expect(world.life.calls).toHaveLength(1);
  });
});
