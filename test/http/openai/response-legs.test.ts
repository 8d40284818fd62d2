/** A response that its turn went on behind is a place that stays: it is compacted and counted as it was. */
import type OpenAI from "openai";
import { describe, expect, it } from "vitest";
import { calls, connect, says, show } from "./response-life";

const MODEL = "test-model";
const LOOK = { type: "function" as const, name: "look", parameters: { type: "object", properties: {} }, strict: false };
const result = (output: string): OpenAI.Responses.ResponseInputItem => ({ type: "function_call_output", call_id: "a", output });
const LONG = "雨".repeat(500);

/** A turn of two responses, and one behind it. */
async function start() {
  const world = connect();
  const { openai, model } = world;
  model.say = (_, nth) => (nth === 1 ? [{ type: "text", text: "I look." }, ...calls({ call_id: "a" })] : says(`Sun ${nth}.`));
  const ask = { model: MODEL, tools: [LOOK] };
  const count = async (previous_response_id: string): Promise<number> =>
    (await openai.responses.inputTokens.count({ previous_response_id, tools: [LOOK] })).input_tokens;
  const first = await openai.responses.create({ ...ask, input: "Weather?" });
  const waiting = await count(first.id);
  const goOn = async () => {
    const second = await openai.responses.create({ ...ask, previous_response_id: first.id, input: [result(LONG)] });
    await openai.responses.create({ ...ask, previous_response_id: second.id, input: "More." });
    return second;
  };
  return { ...world, ask, count, first, waiting, goOn };
}

describe("a response that its turn went on behind", () => {
  it.each([
    ["while its turn waits", false],
    ["after its turn went on", true],
  ])("is compacted up to its own end, %s", async (_, isOver) => {
    const { openai, ask, first, goOn, requests } = await start();
    if (isOver) await goOn();
    const compacted = await openai.responses.compact({ model: MODEL, previous_response_id: first.id, input: [result("snow")] });
    const input = [...compacted.output, { role: "user", content: "And?" }] as OpenAI.Responses.ResponseInput;
    await openai.responses.create({ ...ask, input });

    const read = show(requests.at(-1) ?? ({ system: null, messages: [] } as never)).join("\n");
    for (const said of ["Weather?", "snow", "And?"]) expect(read).toContain(said);
    for (const later of [LONG, "Sun 2.", "More."]) expect(read).not.toContain(later);
  });

  it("is counted up to its own end", async () => {
    const { count, first, waiting, goOn } = await start();
    const second = await goOn();
    const [now, later] = [await count(first.id), await count(second.id)];

    expect(now).toBeLessThan(2 * waiting);
    expect(later).toBeGreaterThan(now + 400);
  });

  it("is refused where there is no such one", async () => {
    const { openai, first, goOn } = await start();
    await goOn();
    const previous_response_id = `${first.id}_3`;
    await expect(openai.responses.compact({ model: MODEL, previous_response_id })).rejects.toMatchObject({ status: 404 });
    await expect(openai.responses.inputTokens.count({ previous_response_id })).rejects.toMatchObject({ param: "previous_response_id" });
  });
});
