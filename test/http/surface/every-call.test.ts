/**
 * Every method that the vendors' packages offer for the resources that are served here, called: it answers, or docs/clients.md says that it
 * is refused. With a wrong key each of them fails as the package says.
 */
import Anthropic from "@anthropic-ai/sdk";
import { betaTool } from "@anthropic-ai/sdk/helpers/beta/json-schema";
import OpenAI from "openai";
import OpenAI5 from "openai-v5";
import OpenAI6 from "openai-v6";
import { describe, expect, test } from "vitest";
import { ok } from "../../../src/lib/result";
import { readPages } from "../../support/doc-pages";
import { calls, connect, says } from "../openai/response-life";
import { modelEntry } from "../support";

const connected = connect({
  tenant: {
    listModels: async () => ok([modelEntry({ id: "embedded" })]),
    getModel: async (id) => ok(modelEntry({ id })),
    deleteModel: async () => ok(null),
  },
});
const { options, app } = connected;

/** By `resource.method`. */
type Calls<Client> = Readonly<Record<string, (client: Client) => Promise<unknown>>>;

const asked = { model: "embedded", input: "Hi" };
const chatted = { model: "embedded", messages: [{ role: "user" as const, content: "Hi" }] };
const begin = (client: OpenAI) => client.responses.create(asked);
const open = (client: OpenAI) => client.conversations.create({ items: [{ role: "user", content: "Hi" }] });
async function findItem(client: OpenAI): Promise<{ readonly conversation_id: string; readonly id: string }> {
  const conversation = await open(client);
  const [item] = (await client.conversations.items.list(conversation.id)).data;
  return { conversation_id: conversation.id, id: item && "id" in item ? String(item.id) : "" };
}
const completeStored = (client: OpenAI) => client.chat.completions.create({ ...chatted, store: true });

const OPENAI: Calls<OpenAI> = {
  "responses.create": begin,
  "responses.retrieve": async (client) => client.responses.retrieve((await begin(client)).id),
  "responses.delete": async (client) => client.responses.delete((await begin(client)).id).then(() => true),
  "responses.cancel": async (client) => client.responses.cancel((await client.responses.create({ ...asked, background: true })).id),
  "responses.compact": (client) => client.responses.compact(asked),
  "responses.parse": (client) => client.responses.parse(asked),
  "responses.stream": (client) => client.responses.stream(asked).finalResponse(),
  "responses.inputItems.list": async (client) => client.responses.inputItems.list((await begin(client)).id),
  "responses.inputTokens.count": (client) => client.responses.inputTokens.count(asked),
  "conversations.create": open,
  "conversations.retrieve": async (client) => client.conversations.retrieve((await open(client)).id),
  "conversations.update": async (client) => client.conversations.update((await open(client)).id, { metadata: { topic: "天气" } }),
  "conversations.delete": async (client) => client.conversations.delete((await open(client)).id),
  "conversations.items.create": async (client) =>
    client.conversations.items.create((await open(client)).id, { items: [{ role: "user", content: "More" }] }),
  "conversations.items.retrieve": async (client) => {
    const { id, conversation_id } = await findItem(client);
    return client.conversations.items.retrieve(id, { conversation_id });
  },
  "conversations.items.list": async (client) => client.conversations.items.list((await open(client)).id),
  "conversations.items.delete": async (client) => {
    const { id, conversation_id } = await findItem(client);
    return client.conversations.items.delete(id, { conversation_id });
  },
  "models.retrieve": (client) => client.models.retrieve("embedded"),
  "models.list": (client) => client.models.list(),
  "models.delete": (client) => client.models.delete("embedded"),
  "chat.completions.create": (client) => client.chat.completions.create(chatted),
  "chat.completions.parse": (client) => client.chat.completions.parse(chatted),
  "chat.completions.stream": (client) => client.chat.completions.stream(chatted).finalChatCompletion(),
  "chat.completions.runTools": (client) => {
    const run = { name: "look", description: "Looks", parameters: { type: "object" }, parse: JSON.parse, function: () => "sun" };
    const runner = client.chat.completions.runTools({ ...chatted, tools: [{ type: "function", function: run }] });
    return runner.finalContent();
  },
  "chat.completions.retrieve": async (client) => client.chat.completions.retrieve((await completeStored(client)).id),
  "chat.completions.update": async (client) =>
    client.chat.completions.update((await completeStored(client)).id, { metadata: { topic: "x" } }),
  "chat.completions.list": (client) => client.chat.completions.list(),
  "chat.completions.delete": async (client) => client.chat.completions.delete((await completeStored(client)).id),
  "chat.completions.messages.list": async (client) => client.chat.completions.messages.list((await completeStored(client)).id),
};

const said = { model: "embedded", max_tokens: 100, messages: [{ role: "user" as const, content: "Hi" }] };
const batch = { requests: [{ custom_id: "1", params: said }] };
const look = betaTool({ name: "look", description: "Looks", inputSchema: { type: "object" }, run: () => "sun" });

const ANTHROPIC: Calls<Anthropic> = {
  "messages.create": (client) => client.messages.create(said),
  "messages.parse": (client) => client.messages.parse(said),
  "messages.stream": (client) => client.messages.stream(said).finalMessage(),
  "messages.countTokens": (client) => client.messages.countTokens({ model: "embedded", messages: said.messages }),
  "models.retrieve": (client) => client.models.retrieve("embedded"),
  "models.list": (client) => client.models.list(),
  "beta.messages.create": (client) => client.beta.messages.create(said),
  "beta.messages.parse": (client) => client.beta.messages.parse(said),
  "beta.messages.stream": (client) => client.beta.messages.stream(said).finalMessage(),
  "beta.messages.countTokens": (client) => client.beta.messages.countTokens({ model: "embedded", messages: said.messages }),
  "beta.messages.toolRunner": (client) => client.beta.messages.toolRunner({ ...said, tools: [look] }).runUntilDone(),
  "beta.messages.thread": (client) => client.beta.messages.thread(said).send({ role: "user", content: "Hi" }),
  "beta.models.retrieve": (client) => client.beta.models.retrieve("embedded"),
  "beta.models.list": (client) => client.beta.models.list(),
  ...Object.fromEntries(
    (["messages", "beta.messages"] as const).flatMap((of) => {
      const batches = (client: Anthropic) => (of === "messages" ? client.messages.batches : client.beta.messages.batches);
      return [
        [`${of}.batches.create`, (client: Anthropic) => batches(client).create(batch)],
        [`${of}.batches.retrieve`, (client: Anthropic) => batches(client).retrieve("msgbatch_1")],
        [`${of}.batches.list`, (client: Anthropic) => batches(client).list()],
        [`${of}.batches.delete`, (client: Anthropic) => batches(client).delete("msgbatch_1")],
        [`${of}.batches.cancel`, (client: Anthropic) => batches(client).cancel("msgbatch_1")],
        [`${of}.batches.results`, (client: Anthropic) => batches(client).results("msgbatch_1")],
      ];
    }),
  ),
};

const isResource = (value: unknown): value is object => typeof value === "object" && value !== null && "_client" in value;

/** The methods of a resource, and of those below it. */
function listMethods(resource: object, path: string): string[] {
  const own = Object.getOwnPropertyNames(Object.getPrototypeOf(resource)).filter((name) => name !== "constructor" && !name.startsWith("_"));
  const below = Object.entries(resource).flatMap(([name, value]) =>
    name !== "_client" && isResource(value) ? listMethods(value, `${path}.${name}`) : [],
  );
  return [...own.map((name) => `${path}.${name}`), ...below];
}

const page = readPages().find(({ path }) => path === "docs/clients.md")?.text ?? "";
const [, section = ""] = /\n## Calls that are refused\n([\s\S]*?)(?:\n## |$)/.exec(page) ?? [];
const rows = [...section.matchAll(/^\| (`.+?) \| .+ \|$/gm)].map(([, names = ""]) => names);
const refused = new Set(rows.flatMap((names) => [...names.matchAll(/`([\w.]+)`/g)].map(([, name = ""]) => name)));

/** What a refused call says in the vendor's words. */
const REFUSAL = { status: expect.toSatisfy((status) => [400, 404, 405].includes(Number(status))), error: expect.any(Object) };
const WRONG = { apiKey: "lh_wrong" };

function checkPackage<Client>(
  offered: readonly string[],
  made: Calls<Client>,
  { client, stranger }: Record<"client" | "stranger", Client>,
) {
  test("has no method that is not called here", () => {
    expect(offered.filter((name) => !(name in made))).toEqual([]);
  });

  test.each(offered.filter((name) => name in made))("%s", async (name) => {
    connected.model.say = (request) =>
      (request.tools ?? []).length > 0 && request.messages.at(-1)?.role === "user" ? calls({ call_id: "a" }) : says("Hello.");
    const call = made[name];
    if (refused.has(name)) await expect(call?.(client)).rejects.toMatchObject(REFUSAL);
    else expect(await call?.(client)).toBeTruthy();
    await expect(call?.(stranger)).rejects.toMatchObject({ status: 401, error: expect.any(Object) });
  });
}

const PACKAGES = [
  ["openai 5", OpenAI5 as unknown as typeof OpenAI],
  ["openai 6", OpenAI6 as unknown as typeof OpenAI],
  ["openai 7", OpenAI],
] as const;

describe.each(PACKAGES)("%s", (_, Package) => {
  const client = new Package(options);
  const { responses, conversations, models, chat } = client;
  const offered = [
    ...listMethods(responses, "responses"),
    ...listMethods(conversations, "conversations"),
    ...listMethods(models, "models"),
    ...listMethods(chat.completions, "chat.completions"),
  ];
  checkPackage(offered, OPENAI, { client, stranger: new Package({ ...options, ...WRONG }) });
});

describe("@anthropic-ai/sdk", () => {
  const fetch = async (url: string | URL | Request, init?: RequestInit): Promise<Response> => app.request(String(url), init);
  const connecting = { apiKey: options.apiKey, baseURL: "http://longhand.test", maxRetries: 0, fetch };
  const client = new Anthropic(connecting);
  const { messages, models, beta } = client;
  const offered = [
    ...listMethods(messages, "messages"),
    ...listMethods(models, "models"),
    ...listMethods(beta.messages, "beta.messages"),
    ...listMethods(beta.models, "beta.models"),
  ];
  checkPackage(offered, ANTHROPIC, { client, stranger: new Anthropic({ ...connecting, ...WRONG }) });
});

test("what the page lists as refused is offered by a package", () => {
  expect(refused.size).toBeGreaterThan(0);
  expect([...refused].filter((name) => !(name in OPENAI) && !(name in ANTHROPIC))).toEqual([]);
});
