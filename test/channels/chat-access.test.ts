/** Who may talk to the bot, for how long a chat believes it, and what a person reads whom a limit holds up. */
import { describe, expect, it } from "vitest";
import { PAIRED_MS } from "../../src/app/channels/incoming/access";
import { findWords } from "../../src/app/channels/words/words";
import { LOOK_UP_TTL_MS } from "../../src/tenant/look-ups/look-up-cache";
import { ChatWorld, toDelivery, toMessage } from "./chat-life";

const EN = findWords("en");
const DE = findWords("de");
const MINUTE = 60_000;

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

describe("a limit of requests a minute", () => {
  /** So many requests of each minute and each person. */
  function limited(max: number, { of = "end_user", ...change }: { readonly of?: "end_user" | "tenant"; readonly isGroup?: boolean } = {}) {
    const world = new ChatWorld();
    const used = new Map<string, number>();
    world.takeRequest = (endUser) => {
      const minute = Math.floor(world.time.now() / MINUTE);
      const name = `${minute} ${of === "tenant" ? "" : endUser}`;
      if ((used.get(name) ?? 0) >= max) return { of, passes_at: (minute + 1) * MINUTE };
      used.set(name, (used.get(name) ?? 0) + 1);
      return null;
    };
    const write = (n: number, more: object = {}) => world.receive(toMessage(`Text ${n}.`, { id: `d${n}`, ...change, ...more }));
    return { world, write, used };
  }

  it("counts a message once, as one of its person, also while it waits for something else", async () => {
    const { world, write, used } = limited(9);
    world.sessionRefusal = { kind: "again", code: "models_unavailable" };
    await write(1);
    await world.advance(1_000);
    world.sessionRefusal = null;
    await world.advance(2_000);
    expect(world.life.call.messages).toEqual(["user: Text 1."]);
    expect([...used]).toEqual([[expect.stringMatching(/ generic:u1$/), 1]]);
  });

  it("lets a message wait for the next minute where no other person waits behind it, and then answers it", async () => {
    const { world, write } = limited(1);
    await write(1);
    await world.answer("One.");
    await write(2);
    expect([world.texts, world.count("deliveries")]).toEqual([["One."], 1]);
    await world.advance(MINUTE);
    await world.answer("Two.");
    expect(world.texts).toEqual(["One.", "Two."]);
  });

  it("answers a flood with the words once, in the person's language, and ends every delivery", async () => {
    const { world, write } = limited(1);
    for (let n = 1; n <= 40; n++) await write(n, { language: "de" });
    await world.answer("Eins.");
    for (let n = 0; n < 6; n++) await world.advance(MINUTE);
    expect(world.count("deliveries")).toBe(0);
    const said = world.texts.filter((text) => text !== "Eins.");
    expect(said).toEqual([expect.stringMatching(/^Das war mehr.* Bitte versuche es in \d+ Sekunden noch einmal\.$/)]);
    expect(world.notes.filter(({ reason }) => reason === "refused: requests_per_minute")).toHaveLength(1);
  });

  it("of a person in a group refuses that one at once, with words, and another person goes on", async () => {
    const { world, write } = limited(1, { isGroup: true });
    await write(1, { user: "u1" });
    await write(2, { user: "u1" });
    await write(3, { user: "u1" });
    await write(4, { user: "u2" });
    await world.answer("One.");
    await world.answer("Two.");
    await write(5, { user: "u2" });
    const words = expect.stringMatching(/^That was more than I may answer in a minute\. Please try again in \d+ seconds?\.$/);
    // Each of them reads the words.
    expect(world.texts).toEqual([words, "One.", "Two.", words]);
    expect(world.count("deliveries")).toBe(0);
  });

  it("of the tenant holds up a group, since it holds up all in it", async () => {
    const { world, write } = limited(1, { isGroup: true, of: "tenant" });
    await write(1);
    await write(2, { user: "u2" });
    await world.answer("One.");
    expect(world.count("deliveries")).toBe(1);
    await world.advance(MINUTE);
    await world.answer("Two.");
    expect(world.texts).toEqual(["One.", "Two."]);
  });

  it("counts an edit that is answered", async () => {
    const { world, write } = limited(1, { isGroup: true });
    await write(1);
    await world.answer("One.");
    await world.receive(toDelivery({ type: "edit", message: "d1", text: "Else." }, { id: "d2", isGroup: true }));
    expect(world.texts.at(-1)).toMatch(/^That was more/);
    expect(world.life.calls).toHaveLength(1);
  });
});

describe("a refusal", () => {
  it("that passes soon is waited for a minute, and then said", async () => {
    const world = new ChatWorld();
    world.sessionRefusal = { kind: "brief", code: "rate_limited", of: "end_user" };
    await world.receive(toMessage("One."));
    await world.advance(MINUTE / 2);
    expect([world.texts, world.count("deliveries")]).toEqual([[], 1]);
    for (let n = 0; n < 3; n++) await world.advance(MINUTE);
    expect([world.texts, world.count("deliveries")]).toEqual([[EN.busy], 0]);
  });

  it.each([
    [90_000, "in 2 Minuten"],
    [3 * 60 * MINUTE, "in 3 Stunden"],
    [20 * 24 * 60 * MINUTE, "in 20 Tagen"],
  ])("says when it passes, where that is known: in %i ms", async (ms, when) => {
    const world = new ChatWorld({ settings: { language: "de" } });
    world.sessionRefusal = { kind: "refused", code: "budget_exhausted", passes_at: world.time.now() + ms };
    await world.receive(toMessage("One."));
    expect(world.texts).toEqual([`${DE.budget} Bitte versuche es ${when} noch einmal.`]);
  });

  it("of a file for which there is no room is said once, and the message is answered", async () => {
    const world = new ChatWorld();
    world.file = { ok: false, error: { reason: "file_limit" } };
    const files = [{ ref: "f", name: "photo.png", media_type: null, bytes: null }];
    for (const n of [1, 2]) {
      const { event, ...delivery } = toMessage("Look.", { id: `d${n}`, message: `m${n}` });
      await world.receive({ ...delivery, event: { ...event, files } as typeof event });
      await world.answer("I cannot see it.");
    }
    expect(world.texts).toEqual(["I have no room for your file.", "I cannot see it.", "I cannot see it."]);
    expect(world.sent.map((act) => act.type === "send" && act.is_first)).toEqual([true, false, true]);
  });
});
