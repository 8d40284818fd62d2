/**
 * The tables of parameters in docs/clients, against what the surfaces do: each parameter is sent. What is refused is refused by its name,
 * what is ignored changes nothing that the model reads, and everything else changes what is asked or answered.
 */
import { describe, expect, test } from "vitest";
import { SPEC } from "../../session/life";
import { readPages } from "../../support/doc-pages";
import { connect } from "../openai/response-life";
import { KEY } from "../support";

type Connected = ReturnType<typeof connect>;
type Fields = Readonly<Record<string, unknown>>;
/** A value, or what makes one. */
type Sample = unknown | ((connected: Connected, conversation: string) => Promise<unknown>);

interface Table {
  readonly page: string;
  readonly heading: string;
  /** `{conversation}` is one of two messages. */
  readonly path: string;
  /** Null: the parameters are in the query, and nothing but what is honoured changes the answer. */
  readonly body: Fields | null;
  readonly headers?: Readonly<Record<string, string>>;
  /** Values that make a difference, or that the schema of an ignored parameter takes. */
  readonly samples: Readonly<Record<string, Sample>>;
  /** Those of another request of the page, and those that make a difference only where a conversation is too long. */
  readonly elsewhere: readonly string[];
}

const schema = { type: "object", properties: { city: { type: "string" } }, required: ["city"], additionalProperties: false };
const user = (content: string) => ({ role: "user", content });
const OPENAI_TOOL = { type: "function", name: "look", parameters: schema };
const COMPLETION_TOOL = { type: "function", function: { name: "look", parameters: schema } };
const SAMPLING = { temperature: 0.25, top_p: 0.5 };

const TABLES: readonly Table[] = [
  {
    page: "openai-responses",
    heading: "Parameters",
    path: "/v1/responses",
    body: { model: "embedded", input: "Hi", tools: [{ ...OPENAI_TOOL, name: "other" }] },
    samples: {
      ...SAMPLING,
      model: "other",
      input: "Hello",
      instructions: "Be brief.",
      conversation: async ({ openai }: Connected) =>
        (await openai.conversations.create({ items: [{ role: "user", content: "Before" }] })).id,
      previous_response_id: async ({ openai }: Connected) => (await openai.responses.create({ model: "embedded", input: "Before" })).id,
      store: false,
      stream: true,
      background: true,
      tools: [OPENAI_TOOL],
      tool_choice: "required",
      parallel_tool_calls: false,
      text: { format: { type: "json_schema", name: "place", schema } },
      reasoning: { effort: "low" },
      max_output_tokens: 50,
      metadata: { topic: "天气" },
      include: ["reasoning.encrypted_content"],
      service_tier: "flex",
      safety_identifier: "someone",
      prompt_cache_key: "key",
    },
    elsewhere: ["truncation", "context_management"],
  },
  {
    page: "openai-chat",
    heading: "Parameters",
    path: "/v1/chat/completions",
    body: { model: "embedded", messages: [user("Hi")], tools: [{ ...COMPLETION_TOOL, function: { name: "other", parameters: schema } }] },
    samples: {
      ...SAMPLING,
      model: "other",
      messages: [user("Hello")],
      stream: true,
      tools: [COMPLETION_TOOL],
      tool_choice: "required",
      parallel_tool_calls: false,
      response_format: { type: "json_schema", json_schema: { name: "place", schema } },
      max_tokens: 50,
      max_completion_tokens: 50,
      stop: ["END"],
      seed: 7,
      reasoning_effort: "low",
      metadata: async ({ app }: Connected) => {
        const headers = { authorization: `Bearer ${KEY}`, "content-type": "application/json" };
        const created = await app.request("/v1/sessions", { method: "POST", headers, body: JSON.stringify({ system: "Be brief." }) });
        const { id }: { readonly id: string } = await created.json();
        return { session_id: id };
      },
    },
    // Of a stream.
    elsewhere: ["context_management", "stream_options"],
  },
  {
    page: "openai-conversations",
    heading: "Parameters",
    path: "/v1/conversations",
    body: {},
    samples: { metadata: { topic: "天气" } },
    // The answer does not have the items.
    elsewhere: ["items", "limit", "order", "after", "include", "before"],
  },
  {
    page: "openai-conversations",
    heading: "Parameters",
    path: "/v1/conversations/{conversation}",
    body: { metadata: {} },
    samples: { metadata: { topic: "天气" } },
    elsewhere: ["items", "limit", "order", "after", "include", "before"],
  },
  {
    page: "openai-conversations",
    heading: "Parameters",
    path: "/v1/conversations/{conversation}/items",
    body: { items: [user("Hi")] },
    samples: { items: [user("Hello")] },
    elsewhere: ["metadata", "limit", "order", "after", "include", "before"],
  },
  {
    page: "openai-conversations",
    heading: "Parameters",
    path: "/v1/conversations/{conversation}/items",
    body: null,
    samples: {
      limit: "1",
      order: "asc",
      after: async ({ openai }: Connected, conversation: string) => (await openai.conversations.items.list(conversation)).data[0]?.id,
      include: "reasoning.encrypted_content",
    },
    elsewhere: ["items", "metadata"],
  },
  {
    page: "openai-compaction",
    heading: "Parameters",
    path: "/v1/responses/compact",
    body: { model: "embedded", input: "Hi" },
    samples: {
      input: "Hello",
      previous_response_id: async ({ openai }: Connected) => (await openai.responses.create({ model: "embedded", input: "Before" })).id,
    },
    elsewhere: ["model", "instructions"],
  },
  {
    page: "anthropic",
    heading: "Parameters",
    path: "/v1/messages",
    headers: { "anthropic-version": "2023-06-01" },
    body: { model: "embedded", max_tokens: 2_000, messages: [user("Hi")], tools: [{ name: "other", input_schema: schema }] },
    samples: {
      ...SAMPLING,
      model: "other",
      max_tokens: 50,
      messages: [user("Hello")],
      system: "Be brief.",
      stream: true,
      stop_sequences: ["END"],
      tools: [{ name: "look", input_schema: schema }],
      tool_choice: { type: "any" },
      thinking: { type: "enabled", budget_tokens: 1_500 },
      output_config: { effort: "low" },
      output_format: { type: "json_schema", schema },
      metadata: { user_id: "someone" },
      service_tier: "auto",
    },
    elsewhere: ["context_management"],
  },
  {
    page: "ai-sdk",
    heading: "What a request may hold",
    path: "/api/chat",
    body: { id: "ticket-1", messages: [{ role: "user", parts: [{ type: "text", text: "Hi" }] }] },
    samples: {
      messages: [{ role: "user", parts: [{ type: "text", text: "Hello" }] }],
      message: { role: "user", parts: [{ type: "text", text: "Hello" }] },
      model: "other",
      generation: { temperature: 0.25 },
    },
    // Which chat, and which message of it: test/acceptance/client/ai-sdk.test.ts.
    elsewhere: ["id", "trigger", "messageId"],
  },
];

interface Row {
  readonly name: string;
  readonly says: string;
}

function readRows({ page, heading }: Table): readonly Row[] {
  const text = readPages().find(({ path }) => path === `docs/clients/${page}.md`)?.text ?? "";
  const [, section = ""] = text.split(`\n## ${heading}\n`);
  const [table = ""] = section.split("\n## ");
  return [...table.matchAll(/^\| (`.+?) \| (.+) \|$/gm)].flatMap(([, names = "", says = ""]) =>
    [...names.matchAll(/`(\w+)`/g)].map(([, name = ""]) => ({ name, says })),
  );
}

interface Told {
  readonly status: number;
  readonly text: string;
  readonly ignored: string | null;
  /** What the model was asked with. */
  readonly asked: string;
}

/** Ids and times, which differ without a reason. */
const toPlain = (text: string): string =>
  text
    .replace(/[0-9A-Z]{26}/g, "ID")
    .replace(/"(created_at|created|completed_at)":\d+/g, '"$1":0')
    .replace(/"request_id":"[^"]*"/g, "");

/** One app for a table, because building it takes longer than a request. */
class Sender {
  readonly #connected = connect({ models: { resolve: async (id) => ({ ...SPEC, id }) } });
  readonly #table: Table;
  #plain: Promise<Told> | null = null;
  #conversation: Promise<string> | null = null;

  constructor(table: Table) {
    this.#table = table;
  }

  /** The answer to a request without the parameter. */
  get plain(): Promise<Told> {
    this.#plain ??= this.#post({});
    return this.#plain;
  }

  async send(name: string, sample: Sample): Promise<Told> {
    return this.#post({ [name]: typeof sample === "function" ? await sample(this.#connected, await this.#findConversation()) : sample });
  }

  #findConversation(): Promise<string> {
    const items = [user("One"), user("Two")].map(({ content }) => ({ role: "user" as const, content }));
    this.#conversation ??= this.#connected.openai.conversations.create({ items }).then(({ id }) => id);
    return this.#conversation;
  }

  async #post(more: Fields): Promise<Told> {
    const { app, requests, settle } = this.#connected;
    const { body, headers: own = {} } = this.#table;
    const path = this.#table.path.includes("{")
      ? this.#table.path.replace("{conversation}", await this.#findConversation())
      : this.#table.path;
    const headers = { authorization: `Bearer ${KEY}`, ...own };
    requests.length = 0;
    const response = await (body === null
      ? app.request(`${path}?${new URLSearchParams(Object.entries(more).map(([name, value]) => [name, String(value)]))}`, { headers })
      : app.request(path, {
          method: "POST",
          headers: { ...headers, "content-type": "application/json" },
          body: JSON.stringify({ ...body, ...more }),
        }));
    const text = await response.text();
    await settle();
    return {
      status: response.status,
      ignored: response.headers.get("x-ignored"),
      text: toPlain(text),
      asked: toPlain(JSON.stringify(requests)),
    };
  }
}

/** What is ignored changes nothing that the model reads, and nothing of a list. An answer of a model echoes what it was asked with. */
const toEffect = ({ asked, text }: Told, { body }: Table): readonly string[] => (body === null ? [asked, text] : [asked]);

const named = TABLES.map((table) => ({ ...table, method: table.body === null ? "GET" : "POST" }));

const IN_A_BODY = "In a body, any other parameter is ignored, and named in `X-Ignored`.";

describe.each(named)("$page: $method $path", (table) => {
  const rows = readRows(table);
  const sender = new Sender(table);

  test("has a table, and a sample for each parameter that is honoured", () => {
    expect(rows.length).toBeGreaterThan(4);
    const names = new Set(rows.map(({ name }) => name));
    const known = [...Object.keys(table.samples), ...table.elsewhere];
    expect(known.filter((name) => !names.has(name))).toEqual([]);
  });

  test.each(rows)("$name: $says", async ({ name, says }) => {
    if (table.elsewhere.includes(name)) return;
    const isSampled = name in table.samples;
    const plain = await sender.plain;
    expect(plain.status, plain.text).toBeLessThan(300);
    // What no parameter takes, if there is no better value.
    const told = await sender.send(name, isSampled ? table.samples[name] : { unheard_of: true });

    if (/^refused\b/.test(says)) {
      expect(told.status, told.text).toBe(400);
      expect(told.text).toContain(name);
      expect(told.asked).toBe("[]");
      const [, neutral] = /^refused, unless it is (.+)$/.exec(says) ?? [];
      if (neutral !== undefined) expect((await sender.send(name, JSON.parse(neutral))).status).toBe(200);
    } else {
      expect(told.status, told.text).toBeLessThan(300);
      const isIgnored = /^(?:ignored|with a session ignored)\b/.test(says);
      if (isIgnored) expect(toEffect(told, table)).toEqual(toEffect(plain, table));
      else expect([told.asked, told.text]).not.toEqual([plain.asked, plain.text]);
    }
  });

  test("a parameter that no table has is refused by its name, or ignored where the page says so", async () => {
    const told = await sender.send("unheard_of", "x");
    const { text = "" } = readPages().find(({ path }) => path.endsWith(`/${table.page}.md`)) ?? {};
    const isNamed = text.includes("| anything else | ignored, and named in `X-Ignored` |") || text.includes(IN_A_BODY);
    const isLoose = table.body !== null && (isNamed || text.includes("| anything else | ignored"));
    expect(told.status, told.text).toBe(isLoose ? 200 : 400);
    if (!isLoose) expect(told.text).toContain("unheard_of");
    expect(told.ignored).toBe(isLoose && isNamed ? "unheard_of" : null);
  });
});
