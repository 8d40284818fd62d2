/** OpenAI's own package against the app, with a session in this process behind every id, and a model that the test speaks for. */
import OpenAI from "openai";
import { createNodeSql } from "../../../scripts/support/node-sql";
import type { ModelDirectory, ModelRequest, ModelStreamPart } from "../../../src/app/ports";
import type { SessionId } from "../../../src/domain/ids";
import { Life, settle } from "../../session/life";
import { countingIds } from "../../support/builders";
import { KEY, type WorldInput, world } from "../support";

type Script = (request: ModelRequest, nth: number) => readonly ModelStreamPart[] | Promise<readonly ModelStreamPart[]>;

const USAGE = { input: 10, output: 2, cached: 4, reasoning: 1 };

export const says = (...texts: readonly string[]): ModelStreamPart[] => [
  ...texts.map((text): ModelStreamPart => ({ type: "text", text })),
  { type: "finish", finish: "stop", usage: USAGE },
];

interface SaidCall {
  readonly call_id: string;
  readonly name?: string;
  readonly arguments?: string;
}

export const calls = (...given: readonly SaidCall[]): ModelStreamPart[] => [
  ...given.map(
    ({ call_id, name = "look", arguments: written = "{}" }): ModelStreamPart => ({
      type: "tool_call",
      call: { type: "tool_call", call_id, name, arguments: written },
    }),
  ),
  { type: "finish", finish: "tool_calls", usage: { input: 20, output: 3, cached: 0, reasoning: 0 } },
];

/** What a message of a request says, as `role: text`. */
export const show = ({ system, messages }: ModelRequest): string[] => [
  ...(system === null ? [] : [`system: ${system}`]),
  ...messages.map(
    ({ role, parts }) =>
      `${role}: ${parts.map((part) => (part.type === "text" ? part.text : part.type === "tool_result" ? part.output : part.type)).join("")}`,
  ),
];

interface ConnectInput extends WorldInput {
  /** Which models there are. Absent: one by any name. */
  readonly models?: ModelDirectory;
  /** Hears the name of each call of a session. */
  readonly onCall?: (name: string) => void;
}

const watch = (service: Life["service"], onCall: (name: string) => void): Life["service"] =>
  new Proxy(service, {
    get(target, name) {
      onCall(String(name));
      return Reflect.get(target, name);
    },
  });

/** Answers every call of the model by the script, which a test may change. */
export function connect({ models, onCall = () => {}, ...input }: ConnectInput = {}) {
  const lives = new Map<SessionId, Life>();
  const requests: ModelRequest[] = [];
  const model: { say: Script } = { say: ({ messages }) => says(`echo ${messages.length}`) };
  // Sessions share what makes ids, so that those of one are unknown to the others.
  const ids = countingIds();
  const findLife = (session: SessionId): Life => {
    const known = lives.get(session);
    if (known) return known;
    const life = new Life(createNodeSql(), "life-1", ids);
    if (models) life.models = models;
    life.chat = {
      async *stream(request, { onRequest }) {
        onRequest?.("body");
        requests.push(request);
        yield* await model.say(request, requests.length);
      },
      render: async () => ({ url: "", body: "" }),
    };
    lives.set(session, life);
    return life;
  };
  const { app } = world({ ...input, deps: { sessions: (_, session) => watch(findLife(session).service, onCall), ...input.deps } });
  const options = {
    apiKey: KEY,
    baseURL: "http://longhand.test/v1",
    maxRetries: 0,
    fetch: async (url: string | URL | Request, init?: RequestInit) => app.request(String(url), init),
  };
  const openai = new OpenAI(options);
  return { options, openai, app, model, requests, lives, settle };
}
