/** A key may let its clients name sessions by ids of their own. */
import { describe, expect, test } from "vitest";
import { connect, says } from "../openai/response-life";
import { KEY, makeId, principal } from "../support";
import { createDirectory } from "./session-directory";

const NAME = "ses_dd1bfdfc7ffe8dYPRzI5i4yaXI";

function openWith(settings: { readonly session_header: "create" | null }) {
  const clients = { ...settings, on_disconnect: null, chat_instructions: null };
  const directory = createDirectory();
  const life = connect({ principal: { ...principal(), clients }, tenant: directory.tenant });
  life.model.say = ({ messages }) => says(`heard ${messages.length}`);
  const headers = { authorization: `Bearer ${KEY}`, "content-type": "application/json", "anthropic-version": "2023-06-01" };
  const ask = async (path: string, body: object, more: Readonly<Record<string, string>> = {}) => {
    const init = {
      method: "POST",
      headers: toHeaders({ ...headers, "x-session-id": NAME, ...more }),
      body: JSON.stringify({ model: "m", ...body }),
    };
    const answer = await life.app.request(path, init);
    await life.settle();
    return {
      status: answer.status,
      session: answer.headers.get("x-session-id"),
      ignored: answer.headers.get("x-ignored"),
      text: await answer.text(),
    };
  };
  return { ...life, ...directory, ask };
}

/** An empty value leaves a header out. */
const toHeaders = (given: Readonly<Record<string, string>>) =>
  Object.entries(given).filter(([, value]) => value !== "") as [string, string][];

const hello = { role: "user", content: "Hello." };
const SURFACES = [
  ["/v1/chat/completions", { messages: [hello] }],
  ["/v1/messages", { max_tokens: 100, messages: [hello] }],
  ["/v1/responses", { input: [hello], store: false }],
] as const;

describe.each(SURFACES)("%s", (path, body) => {
  test("a client's id names a session where the key says so, and the same one each time", async () => {
    const { ask, known, lives } = openWith({ session_header: "create" });
    const [first, second] = [await ask(path, body), await ask(path, body)];
    expect([first.status, second.status, first.ignored]).toEqual([200, 200, null]);
    expect(first.session).toBe(known.get(NAME));
    expect([second.session, second.text.includes("heard 3")]).toEqual([first.session, true]);
    expect(lives.size).toBe(1);
  });

  test("a name whose session never opened, or was erased, opens one", async () => {
    const { ask, known } = openWith({ session_header: "create" });
    const left = makeId("ses", 77);
    known.set(NAME, left);
    const answer = await ask(path, body);
    expect([answer.status, answer.session]).toEqual([200, left]);
  });

  test("without the setting the id is the client's own, and has no effect", async () => {
    const { ask, known } = openWith({ session_header: null });
    const answer = await ask(path, body);
    expect([answer.status, answer.session, answer.ignored, known.size]).toEqual([200, null, "X-Session-Id", 0]);
  });

  test("a request beside the conversation opens nothing", async () => {
    const { ask, known } = openWith({ session_header: "create" });
    const answer = await ask(path, body, { "x-openai-subagent": "review" });
    expect([answer.status, answer.ignored, known.size]).toEqual([200, "X-Session-Id", 0]);
  });

  test.each(["x-claude-code-session-id", "session-id"])("an agent names its conversation in %s, too", async (header) => {
    const { ask, known } = openWith({ session_header: "create" });
    const answer = await ask(path, body, { "x-session-id": "", [header]: "01a22e4f-39f7" });
    const unnamed = openWith({ session_header: null });
    const without = await unnamed.ask(path, body, { "x-session-id": "", [header]: "01a22e4f-39f7" });
    expect([answer.status, answer.session]).toEqual([200, known.get("01a22e4f-39f7")]);
    expect([without.status, without.session, without.ignored]).toEqual([200, null, null]);
  });

  test("an id in our form is ours, whether there is such a session or not", async () => {
    const { ask, known } = openWith({ session_header: "create" });
    const answer = await ask(path, body, { "x-session-id": makeId("ses", 5) });
    expect([answer.status, known.size]).toEqual([404, 0]);
  });
});

test("a count opens nothing", async () => {
  const { ask, known } = openWith({ session_header: "create" });
  const answer = await ask("/v1/messages/count_tokens", { messages: [hello] });
  expect([answer.status, known.size]).toEqual([200, 0]);
});

test("a place that the body of a response names goes before the header", async () => {
  const { ask, known } = openWith({ session_header: "create" });
  const first = JSON.parse((await ask("/v1/responses", { input: "Hello." }, { "x-session-id": "other" })).text) as { id: string };
  const second = await ask("/v1/responses", { input: "And now?", previous_response_id: first.id });
  expect([second.status, second.ignored, known.has(NAME)]).toEqual([200, "X-Session-Id", false]);
});
