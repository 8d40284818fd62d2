/** OpenAI's own package against the app and a session in this process, with a model that the test speaks for. */
import OpenAI from "openai";
import type { WholeSessionApi } from "../../../src/app/control-api";
import type { ModelRequest, ModelStreamPart } from "../../../src/app/ports";
import type { Caller } from "../../../src/app/session-api";
import { CALLER, Life } from "../../session/life";
import { KEY, SESSION, type WorldInput, world } from "../support";

/** What the model says to a request. */
export type Script = (request: ModelRequest, nth: number) => readonly ModelStreamPart[];

export const says = (text: string, more: Partial<Extract<ModelStreamPart, { type: "finish" }>> = {}): ModelStreamPart[] => [
  { type: "text", text },
  { type: "finish", finish: "stop", usage: { input: 10, output: 2, cached: 4, reasoning: 1 }, ...more },
];

export const calls = (
  ...given: readonly { readonly call_id: string; readonly name?: string; readonly arguments?: string }[]
): ModelStreamPart[] => [
  ...given.map(
    ({ call_id, name = "look", arguments: written = "{}" }): ModelStreamPart => ({
      type: "tool_call",
      call: { type: "tool_call", call_id, name, arguments: written },
    }),
  ),
  { type: "finish", finish: "tool_calls", usage: { input: 20, output: 3, cached: 0, reasoning: 0 } },
];

const DOTS = (request: ModelRequest): string => `echo ${request.messages.length}`;

/** A session of its own. `script`: answers each call of the model; absent: an echo. */
export async function connectChat(input: Pick<WorldInput, "tenant" | "principal" | "session"> & { readonly script?: Script } = {}) {
  const life = new Life();
  const { service } = life;
  /** How many sessions were created and erased over HTTP. */
  const seen = { opened: 0, erased: 0 };
  const requests: ModelRequest[] = [];
  const script = { say: input.script ?? ((request: ModelRequest) => says(DOTS(request))) };
  life.chat = {
    async *stream(request, { onRequest }) {
      onRequest?.("body");
      requests.push(request);
      yield* script.say(request, requests.length);
    },
    render: async () => ({ url: "", body: "" }),
  };
  const here =
    <A extends readonly unknown[], R>(work: (caller: Caller, ...given: A) => R) =>
    (_: Caller, ...given: A) =>
      work(CALLER, ...given);
  const session: Partial<WholeSessionApi> = {
    open: here((caller, opened) => {
      seen.opened += 1;
      return service.open(caller, opened);
    }),
    openAndRespond: here((caller, asked) => {
      seen.opened += 1;
      return service.openAndRespond(caller, asked);
    }),
    describe: here((caller) => service.describe(caller)),
    conversationEnd: here((caller, asked) => service.conversationEnd(caller, asked)),
    items: here((caller, page) => service.items(caller, page)),
    respond: here((caller, given) => service.respond(caller, given)),
    retry: here((caller, given) => service.retry(caller, given)),
    stop: here((caller, given) => service.stop(caller, given)),
    turn: here((caller, id) => service.turn(caller, id)),
    stream: here((caller, given) => service.stream(caller, given)),
    waitForTurn: here((caller, id, within) => service.waitForTurn(caller, id, within)),
    usage: here((caller, page) => service.usage(caller, page)),
    executions: here((caller, page) => service.executions(caller, page)),
    erase: here((caller, isNoted) => {
      seen.erased += 1;
      return service.erase(caller, isNoted);
    }),
    ...input.session,
  };
  const { app } = world({ ...input, session });
  const connect = (headers: Readonly<Record<string, string>>, maxRetries = 0) =>
    new OpenAI({
      apiKey: KEY,
      baseURL: "http://longhand.test/v1",
      maxRetries,
      defaultHeaders: headers,
      fetch: async (url, init) => app.request(String(url), init),
    });
  /** The conversation, as `role: text`. */
  const list = async (): Promise<string[]> => {
    const page = await service.items(CALLER, { after: null, limit: 100, order: "asc" });
    if (!page.ok) throw new Error(page.error.code);
    return page.value.data.map(
      ({ role, content }) => `${role}: ${content.map((part) => ("text" in part ? part.text : part.type)).join("")}`,
    );
  };
  return { life, app, requests, script, seen, connect, list, openai: connect({ "X-Session-Id": SESSION }) };
}
