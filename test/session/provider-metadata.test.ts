/** Provider metadata is sent back to the provider that wrote it, and to no other. */
import { expect, test } from "vitest";
import { readBodies } from "../../src/session/log/bodies";
import { CALLER, Life } from "./life";

const sealed = (seal: string) => ({ provider_metadata: { anthropic: { signature: seal } } });

test("signatures and sealed thinking are in no frame, no list of messages and no report of a turn, and go back to the provider word for word", async () => {
  const life = new Life();
  await life.open();
  const opened = await life.service.stream(CALLER, { after: null, turn: null });
  if (!opened.ok) throw new Error(opened.error.code);
  await life.send("look it up");
  const call = { type: "tool_call", call_id: "c", name: "look", arguments: "{}", ...sealed("SEAL-3") } as const;
  await life.say(
    { type: "reasoning", text: "Hm.", block: "0", ...sealed("SEAL-1") },
    { type: "reasoning", text: "", block: "1", ...sealed("SEAL-2") },
    { type: "tool_call", call },
    { type: "finish", finish: "tool_calls", usage: null },
  );
  const { turn } = life.runtime.state;
  const told = [
    await life.service.items(CALLER, { after: null, limit: 10, order: "asc" }),
    turn && (await life.service.turn(CALLER, turn.id)),
    await heardUntil(opened.value, "turn.awaiting_tools"),
  ].map((each) => JSON.stringify(each));

  for (const text of told) expect([text.includes("look"), /SEAL|provider_metadata/.test(text)]).toEqual([true, false]);
  expect(told[0]).toContain('"content":[{"type":"reasoning","text":"Hm."}]');

  const results = [{ execution_id: null, call_id: "c", output: "found", is_error: false }];
  await life.service.toolResults(CALLER, { results, idempotency: null });
  await life.advance(0);
  const parts = life.call.request.messages.flatMap((message) => message.parts);
  expect(parts).toContainEqual({ type: "reasoning", text: "", ...sealed("SEAL-2") });
  expect(parts).toContainEqual(call);
});

test("a call with its signature may be more than a row takes: it is kept in several, and is the same when it is read", async () => {
  const life = new Life();
  await life.open();
  await life.send("look it up");
  const text = '"'.repeat(280_000); // JSON makes two characters of each
  const call = { type: "tool_call", call_id: "c", name: "look", arguments: text, ...sealed("签".repeat(210_000)) } as const;
  await life.say({ type: "tool_call", call }, { type: "finish", finish: "tool_calls", usage: null });

  const item = life.runtime.state.view.items.find(({ kind }) => kind === "tool_call");
  expect(item?.bytes).toBeGreaterThan(1_100_000);
  const body = item && readBodies(life.sql, [item.id]).get(item.id);
  expect(JSON.parse(body ?? "null")).toEqual([call]);
  const rows = life.sql.all<{ units: number }>("SELECT length(text) AS units FROM bodies");
  expect(Math.max(...rows.map(({ units }) => units))).toBe(500_000);
});

async function heardUntil(stream: ReadableStream<Uint8Array>, end: string): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const bytes of stream) {
    text += decoder.decode(bytes);
    if (text.includes(end)) break;
  }
  return text;
}
