/**
 * How often a request of each surface calls the session's object. The client waits while each call goes to the object and back, so a call more
 * has to be meant: it changes this table.
 */
import { describe, expect, test } from "vitest";
import { calls, connect, says } from "../openai/response-life";
import { KEY } from "../support";

const made: string[] = [];
const { app, model: said } = connect({ onCall: (name) => made.push(name) });

interface Request {
  readonly path: string;
  readonly body: object;
  readonly headers?: Readonly<Record<string, string>>;
}

async function post({ path, body, headers = {} }: Request): Promise<string> {
  const all = { authorization: `Bearer ${KEY}`, "content-type": "application/json", "anthropic-version": "2023-06-01", ...headers };
  const response = await app.request(path, { method: "POST", headers: all, body: JSON.stringify(body) });
  const text = await response.text();
  if (!response.ok) throw new Error(`${path} ${response.status}: ${text}`);
  return text;
}

/** The conversation as the client of a stateless API has it: what was said and answered before, and what is new. */
const COPY = [
  { role: "user", content: "Hello" },
  { role: "assistant", content: "echo 1" },
  { role: "user", content: "And now?" },
];
const model = "embedded";
const conversation = (session: string): string => `conv_${session.slice("ses_".length)}`;

type Make = (session: string, first: string) => Request;
const inSession = (session: string) => ({ "x-session-id": session });
const native =
  (more: Readonly<Record<string, string>> = {}): Make =>
  (session) => ({ path: `/v1/sessions/${session}/messages`, body: { content: "And now?" }, headers: more });
const chat =
  (stream: boolean): Make =>
  (session) => ({ path: "/v1/chat/completions", body: { model, stream, messages: COPY }, headers: inSession(session) });
const anthropic =
  (stream: boolean): Make =>
  (session) => ({ path: "/v1/messages", body: { model, stream, max_tokens: 100, messages: COPY }, headers: inSession(session) });
const respond =
  (more: object): Make =>
  (session) => ({ path: "/v1/responses", body: { conversation: conversation(session), input: "And now?", ...more } });
const behind =
  (stream: boolean): Make =>
  (_, previous_response_id) => ({ path: "/v1/responses", body: { model, stream, input: "And now?", previous_response_id } });

const page: Make = (session) => ({
  path: "/api/chat",
  body: { id: session, trigger: "submit-message", messages: [{ id: "1", role: "user", parts: [{ type: "text", text: "And now?" }] }] },
});

/** The session has one exchange, which a response began. */
async function begin(): Promise<readonly [session: string, response: string]> {
  const { id }: { readonly id: string } = JSON.parse(await post({ path: "/v1/responses", body: { model, input: "Hello" } }));
  return [`ses_${id.slice("resp_".length, "resp_".length + 26)}`, id];
}

describe("a new message in a session that is known", () => {
  test.each<[string, Make, readonly string[]]>([
    ["native, JSON", native(), ["submit", "waitForTurn"]],
    ["native, stream", native({ accept: "text/event-stream" }), ["submit", "stream"]],
    ["chat completions, JSON", chat(false), ["conversationEnd", "respond", "waitForTurn"]],
    ["chat completions, stream", chat(true), ["conversationEnd", "respond"]],
    ["Anthropic Messages, JSON", anthropic(false), ["conversationEnd", "respond", "waitForTurn"]],
    ["Anthropic Messages, stream", anthropic(true), ["conversationEnd", "respond"]],
    ["Responses, JSON", respond({ model }), ["respond", "waitForTurn"]],
    ["Responses, stream", respond({ model, stream: true }), ["respond"]],
    ["Responses without a model, stream", respond({ stream: true }), ["conversationEnd", "respond"]],
    ["Responses behind a response, JSON", behind(false), ["respondFrom", "waitForTurn"]],
    ["Responses behind a response, stream", behind(true), ["respondFrom"]],
    ["AI SDK, stream", page, ["submit", "follow"]],
  ])("%s", async (_, make, expected) => {
    const [session, first] = await begin();
    const request = make(session, first);
    made.length = 0;

    expect(await post(request)).toContain("echo 3");
    expect(made).toEqual(expected);
  });
});

test("a response that answers calls reads the end of its conversation once", async () => {
  said.say = ({ messages }) => (messages.length === 1 ? calls({ call_id: "a" }, { call_id: "b" }) : says(`echo ${messages.length}`));
  const [session] = await begin();
  const output = ["a", "b"].map((call_id) => ({ type: "function_call_output", call_id, output: "sun" }));
  const input = [{ role: "user", content: "Hello" }, ...output];
  made.length = 0;

  expect(await post({ path: "/v1/responses", body: { conversation: conversation(session), input, stream: true } })).toContain("echo 4");
  expect(made).toEqual(["conversationEnd", "executions", "askedWith", "respond", "turn", "askedWith"]);
});
