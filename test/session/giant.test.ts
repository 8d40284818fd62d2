/** A message many times larger than the summariser's window is read in as many chunks as necessary. */
import { describe, expect, test } from "vitest";
import { EARLIER } from "../../src/context/view";
import { CALLER, Life, SPEC, settle } from "./life";
import { countBytes } from "./pilot";

const CHARS = 300_000;
const WINDOW = 8_000;
const SMALL = { ...SPEC, id: "small", context_window: WINDOW };

/** Sent to a model with room for it. The next model has a window of 8,000. */
async function switchedAfter(giant: string): Promise<Life> {
  const life = new Life();
  life.models = { resolve: async (id) => (id === SMALL.id ? SMALL : { ...SPEC, context_window: 1_000_000 }) };
  await life.open("oneclaw");
  await life.send(giant);
  await life.answer("noted", CHARS);
  await life.service.patch(CALLER, { model: SMALL.id });
  await settle();
  await life.send("and now?");
  return life;
}

/** The quotes of each chunk, in order. Each chunk is answered. */
async function readParts(life: Life): Promise<string[]> {
  const read: string[] = [];
  while (life.call.request.purpose === "compaction") {
    expect(countBytes(life.call.request)).toBeLessThanOrEqual(WINDOW - (life.call.request.maxOutput ?? 0));
    const [prompt = ""] = life.call.messages;
    read.push(prompt.slice(prompt.indexOf("<conversation>\n") + 15, prompt.lastIndexOf("\n</conversation>")));
    await life.summarize(`Part ${read.length}.`);
  }
  return read;
}

/** The summary replaces the giant message, and the turn that waited for it continues. */
function isRead(life: Life, read: readonly string[]): void {
  expect(life.runtime.content.readSummaries()).toEqual([`Part ${read.length}.`]);
  expect(life.runtime.state.view.overlays).toMatchObject([{ kind: "summary", from: 1, to: 1 }]);
  expect(life.asked).toBe(`t${"c".repeat(read.length)}t`);
  expect(life.call.messages).toEqual([`user: ${EARLIER}`, "assistant: noted", "user: and now?"]);
}

describe("a message of 300,000 characters before a summariser with a window of 8,000", () => {
  test("is read whole, in as many parts as it takes", async () => {
    const giant = Array.from({ length: CHARS / 6 }, (_, n) => `w${n}`)
      .join(" ")
      .slice(0, CHARS);
    const life = await switchedAfter(giant);

    const read = await readParts(life);

    expect(read.length).toBeGreaterThan(10);
    expect(read.join("")).toBe(`User: ${giant}`);
    isRead(life, read);
  });

  test("is read whole where it takes more than 32 parts", async () => {
    const giant = Array.from({ length: CHARS / 2 }, (_, n) => String.fromCharCode(0x4e00 + (n % 5_000)).repeat(2)).join("");
    const life = await switchedAfter(giant);

    const read = await readParts(life);

    expect(read.length).toBeGreaterThan(32);
    expect(read.join("") === `User: ${giant}`).toBe(true);
    isRead(life, read);
    const kept = await life.service.items(CALLER, { after: null, limit: 1, order: "asc" });
    expect(kept.ok && kept.value.data[0]?.content).toEqual([{ type: "text", text: giant }]);
  });
});
