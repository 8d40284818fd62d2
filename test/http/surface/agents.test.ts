/**
 * The requests of coding agents, as they send them (test/fixtures/agents; `npm run agents -- --record` writes them): none is refused, with a session
 * and without one, and each belongs to the conversation that it is of.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import type { ToolDefinition } from "../../../src/domain/message";
import { calls, connect, says, show } from "../openai/response-life";
import { KEY, principal } from "../support";
import { createDirectory } from "./session-directory";

const request = z.object({
  kind: z.enum(["main", "results", "helper", "title"]),
  path: z.string(),
  headers: z.record(z.string(), z.string()),
  body: z.looseObject({}),
});
const fixture = z.object({ client: z.string(), version: z.string(), requests: z.array(request) });
type Fixture = z.infer<typeof fixture>;
type Request = z.infer<typeof request>;

const FOLDER = join(import.meta.dirname, "..", "..", "fixtures", "agents");
const AGENTS = readdirSync(FOLDER).map((file) => fixture.parse(JSON.parse(readFileSync(join(FOLDER, file), "utf8"))));

const CALL = /"(?:call_id":"|id":"(?=call_|toolu_))([^"]+)"/;
/** The tool that the agent was asked to call. */
const CALLED = /"name":"(\w+)","(?:arguments|input)":/;
/** What the answer may say was left out. */
const LEFT_OUT = /^(?:tools\.\d+:web_search|X-Session-Id)?$/;

function open({ requests }: Fixture, clients: { readonly session_header: "create" | null }) {
  const { known, tenant } = createDirectory();
  const settings = { on_disconnect: null, chat_instructions: null, ...clients };
  const life = connect({ principal: { ...principal(), clients: settings }, tenant });
  const main = requests.find(({ kind }) => kind === "main");
  /** `call`: the id of the call that the request answers, as the first answer named it. */
  const ask = async ({ path, headers, body, kind }: Request, call = "call_1") => {
    const whole = kind === "results" ? { ...body, tools: main?.body.tools } : body;
    const answer = await life.app.request(path, {
      method: "POST",
      headers: { ...headers, authorization: `Bearer ${KEY}`, "content-type": "application/json" },
      body: JSON.stringify(whole).replaceAll("{call}", call),
    });
    const text = await answer.text();
    await life.settle();
    return { status: answer.status, session: answer.headers.get("x-session-id"), ignored: answer.headers.get("x-ignored") ?? "", text };
  };
  return { ...life, known, ask };
}

/** An agent that has no name for its conversation sends a header that its page sets. */
function nameConversation({ client }: Fixture, given: Request | undefined): Request {
  if (!given) throw new Error("a fixture has the request");
  return client === "pi" || client === "Qwen Code" ? { ...given, headers: { ...given.headers, "x-session-id": "try" } } : given;
}

const VALUES: Readonly<Record<string, unknown>> = { string: "x", boolean: false, number: 1, integer: 1, array: [], object: {} };
const toolSchema = z.looseObject({
  properties: z.record(z.string(), z.looseObject({ type: z.string() })),
  required: z.array(z.string()).default([]),
});

/** Arguments that the tool's schema takes. */
function fillArguments({ parameters }: ToolDefinition): string {
  const { properties, required } = toolSchema.parse(parameters);
  return JSON.stringify(Object.fromEntries(required.map((name) => [name, VALUES[properties[name]?.type ?? ""]])));
}

describe.each(AGENTS.map((agent) => [agent.client, agent] as const))("%s", (_, agent) => {
  const named = agent.requests.map((each) => [each.kind, each] as const);

  test("has requests of its main conversation, and of a helper or a title where it has them", () => {
    expect(agent.requests.map(({ kind }) => kind)).toEqual(expect.arrayContaining(["main", "results"]));
  });

  test.each(named)("without a session: %s", async (_kind, each) => {
    const life = open(agent, { session_header: null });
    const answer = await life.ask(each);
    expect([answer.status, answer.session], answer.text).toEqual([200, null]);
    for (const name of answer.ignored.split(", ")) expect(name).toMatch(LEFT_OUT);
    expect(life.requests).toHaveLength(1);
    expect(life.requests[0]?.tools.length === 0).toBe(each.kind === "title");
  });

  const find = (kind: Request["kind"]): Request | undefined => agent.requests.find((each) => each.kind === kind);

  test("in a session: its helper and its title are answered beside it, and its call is answered", async () => {
    const { ask, model, requests } = open(agent, { session_header: "create" });
    const title = find("title");
    const helper = find("helper");
    if (title) expect((await ask(nameConversation(agent, title))).session).toBe(null);

    const [, called] = CALLED.exec(JSON.stringify(find("results")?.body)) ?? [];
    model.say = ({ tools }) => {
      const tool = tools.find(({ name }) => name === called);
      return tool ? calls({ call_id: "c1", name: tool.name, arguments: fillArguments(tool) }) : says("A title");
    };
    const first = await ask(nameConversation(agent, find("main")));
    expect([first.status, first.session !== null], first.text).toEqual([200, true]);
    const [, call = ""] = CALL.exec(first.text) ?? [];
    const begun = requests.at(-1);
    model.say = () => says("Done.");
    // A helper of opencode is a conversation with a name of its own.
    const aside = helper ? await ask(nameConversation(agent, helper)) : null;
    expect(aside?.session ?? null).not.toBe(first.session);

    const next = await ask(nameConversation(agent, find("results")), call);
    expect([next.status, next.session], next.text).toEqual([200, first.session]);
    expect(next.text).toContain("Done.");
    const read = requests.at(-1);
    // The main conversation has its call and the result of it, and nothing of the others.
    expect(read && show(read).length).toBe((begun ? show(begun).length : 0) + 2);
  });
});
