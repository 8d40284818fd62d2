/** Conversations and their items through OpenAI's own package, against the app and a session in this process. */
import fc from "fast-check";
import OpenAI from "openai";
import { describe, expect, it } from "vitest";
import type { WholeSessionApi } from "../../../src/app/control-api";
import type { Caller } from "../../../src/app/session-api";
import { err, ok } from "../../../src/lib/result";
import { CALLER, Life, settle } from "../../session/life";
import { drawn } from "../../support/effort";
import { KEY, makeId, type WorldInput, world } from "../support";

/** A session of its own behind every conversation's name. */
function connect(input: Pick<WorldInput, "tenant" | "principal"> = {}) {
  const life = new Life();
  const { service } = life;
  const here =
    <A extends readonly unknown[], R>(work: (caller: Caller, ...given: A) => R) =>
    (_: Caller, ...given: A) =>
      work(CALLER, ...given);
  const session: Partial<WholeSessionApi> = {
    open: here((caller, opened) => service.open(caller, opened)),
    describe: here((caller) => service.describe(caller)),
    patch: here((caller, changes) => service.patch(caller, changes)),
    items: here((caller, page) => service.items(caller, page)),
    notes: here((caller, asked) => service.notes(caller, asked)),
    message: here((caller, id) => service.message(caller, id)),
    executions: here((caller, page) => service.executions(caller, page)),
    importMessages: here((caller, given) => service.importMessages(caller, given)),
    respond: here((caller, given) => service.respond(caller, given)),
    redact: here((caller, id, options) => service.redact(caller, id, options)),
    erase: here((caller, isNoted) => service.erase(caller, isNoted)),
  };
  const { app } = world({ session, ...input });
  const openai = new OpenAI({
    apiKey: KEY,
    baseURL: "http://longhand.test/v1",
    maxRetries: 0,
    fetch: async (url, init) => app.request(String(url), init),
  });
  return { life, openai, app };
}

const user = (content: string) => ({ type: "message" as const, role: "user" as const, content });
const call = (call_id: string) => ({ type: "function_call" as const, call_id, name: "look", arguments: "{}" });
const output = (call_id: string, text = `result ${call_id}`) => ({ type: "function_call_output" as const, call_id, output: text });

describe("a conversation", () => {
  it("is created with items, read, changed and deleted", async () => {
    const { openai } = connect();

    const created = await openai.conversations.create({
      metadata: { topic: "天气" },
      items: [user("Weather?"), { role: "assistant", content: "Sun." }],
    });
    expect(created).toEqual({
      id: expect.stringMatching(/^conv_[0-9A-Z]{26}$/),
      object: "conversation",
      created_at: expect.any(Number),
      metadata: { topic: "天气" },
    });
    expect(created.created_at).toBeLessThan(10_000_000_000);

    expect(await openai.conversations.retrieve(created.id)).toEqual(created);
    expect(await openai.conversations.update(created.id, { metadata: { topic: "wind" } })).toEqual({
      ...created,
      metadata: { topic: "wind" },
    });
    expect(await openai.conversations.update(created.id, { metadata: null })).toEqual({ ...created, metadata: {} });
    expect(await openai.conversations.delete(created.id)).toEqual({ id: created.id, object: "conversation.deleted", deleted: true });
    await expect(openai.conversations.retrieve(created.id)).rejects.toMatchObject({ status: 404 });
  });

  it("needs no body", async () => {
    expect(await connect().openai.conversations.create()).toMatchObject({ object: "conversation", metadata: {} });
  });

  it("is refused with items that are not understood, and nothing is created", async () => {
    const { openai } = connect();

    const refused = openai.conversations.create({
      items: [user("a"), { type: "message", role: "user", content: [{ type: "input_image", detail: "auto", image_url: "ftp://x" }] }],
    });

    await expect(refused).rejects.toMatchObject({
      status: 400,
      param: "items[1].content[0].image_url",
      code: "invalid_request",
      type: "invalid_request_error",
    });
    await expect(openai.conversations.retrieve(`conv_${makeId("ses").slice(4)}`)).rejects.toMatchObject({ status: 404 });
  });

  it("is refused with a result that answers no call", async () => {
    const refused = connect().openai.conversations.create({ items: [output("call_9")] });

    await expect(refused).rejects.toMatchObject({
      status: 400,
      param: "input",
      error: { message: "No tool call found for function call output with call_id call_9." },
    });
  });

  it.each([
    [{ items: Array.from({ length: 21 }, () => user("x")) }, "items"],
    [{ metadata: Object.fromEntries(Array.from({ length: 17 }, (_, index) => [`k${index}`, "v"])) }, "metadata"],
  ])("is refused by the name of the field: %#", async (body, param) => {
    await expect(connect().openai.post("/conversations", { body })).rejects.toMatchObject({ status: 400, param });
  });

  it.each(["conv_1", "ses_01JD8Z3V6Q4N7R2T5W9X0Y1A01", "conv_01JD8Z3V6Q4N7R2T5W9X0Y1A01"])(
    "that there is not is unknown: %s",
    async (id) => {
      const { openai } = connect();
      for (const asked of [
        openai.conversations.retrieve(id),
        openai.conversations.items.list(id),
        openai.conversations.items.retrieve("msg_x", { conversation_id: id }),
      ])
        await expect(asked).rejects.toMatchObject({ status: 404 });
    },
  );

  it("needs a key that may write", async () => {
    const { openai } = connect({ principal: { tenant: makeId("ten"), key: makeId("key"), scopes: ["sessions:read"], expires_at: null } });

    await expect(openai.conversations.create()).rejects.toMatchObject({ status: 403, type: "permission_error" });
  });
});

async function conversation(...items: NonNullable<OpenAI.Conversations.ConversationCreateParams["items"]>) {
  const connected = connect();
  const { id } = await connected.openai.conversations.create({ items });
  const list = async (query: OpenAI.Conversations.ItemListParams = {}) => {
    const found: OpenAI.Conversations.ConversationItem[] = [];
    for await (const item of connected.openai.conversations.items.list(id, query)) found.push(item);
    return found;
  };
  return { ...connected, id, list };
}

const toText = (item: OpenAI.Conversations.ConversationItem): string => {
  if (item.type === "message") return `${item.role}: ${item.content.map((part) => ("text" in part ? part.text : part.type)).join("")}`;
  if (item.type === "function_call_output") return `output: ${JSON.stringify(item.output)}`;
  return "call_id" in item ? `call: ${item.call_id}` : item.type;
};

describe("the items of a conversation", () => {
  it("are listed with the newest first, page by page, wherever a reply's items are cut", async () => {
    const items = [user("a"), call("1"), call("2"), output("1"), output("2"), user("b"), user("c")];
    const { list, openai, id } = await conversation(...items);
    const expected = ["user: a", "call: 1", "call: 2", 'output: "result 1"', 'output: "result 2"', "user: b", "user: c"];

    expect((await list({ order: "asc" })).map(toText)).toEqual(expected);
    for (const limit of [1, 2, 3, 100]) {
      expect((await list({ limit })).map(toText)).toEqual(expected.toReversed());
      expect((await list({ limit, order: "asc" })).map(toText)).toEqual(expected);
    }
    const page = await openai.conversations.items.list(id, { limit: 2, include: ["reasoning.encrypted_content"] });
    expect(await openai.get(`/conversations/${id}/items?limit=2`)).toEqual({
      object: "list",
      data: page.data,
      has_more: true,
      first_id: page.data[0]?.id,
      last_id: page.data[1]?.id,
    });
  });

  it("of which there are none are an empty list", async () => {
    const { openai, id } = await conversation();

    expect(await openai.get(`/conversations/${id}/items`)).toEqual({
      object: "list",
      data: [],
      has_more: false,
      first_id: null,
      last_id: null,
    });
  });

  it("are added, returned as they are now, and read one by one", async () => {
    const { openai, id, list } = await conversation(user("a"));

    const added = await openai.conversations.items.create(id, {
      items: [
        { type: "reasoning", id: "rs_1", summary: [{ type: "summary_text", text: "Think." }] },
        { role: "assistant", content: "Hello." },
        call("1"),
      ],
    });

    expect(added).toMatchObject({ object: "list", has_more: false, first_id: added.data[0]?.id, last_id: added.data[2]?.id });
    expect(added.data).toEqual((await list({ order: "asc" })).slice(1));
    expect(added.data).toMatchObject([
      { type: "reasoning", summary: [{ type: "summary_text", text: "Think." }], status: "completed" },
      { type: "message", role: "assistant", content: [{ type: "output_text", text: "Hello.", annotations: [] }], status: "completed" },
      { type: "function_call", call_id: "1", name: "look", arguments: "{}", status: "completed" },
    ]);
    for (const item of added.data) expect(await openai.conversations.items.retrieve(item.id ?? "", { conversation_id: id })).toEqual(item);
    // The result of a call may be added later.
    const answered = await openai.conversations.items.create(id, { items: [output("1"), user("b")] });
    expect(answered.data.map(toText)).toEqual(['output: "result 1"', "user: b"]);
    await expect(openai.conversations.items.create(id, { items: [output("1")] })).rejects.toMatchObject({ status: 400, param: "input" });
  });

  it("answer the calls of a turn that waits, which ends with them", async () => {
    const { life, openai, id, list } = await conversation();
    await life.send("Weather?");
    life.call.say({ type: "tool_call", call: { type: "tool_call", call_id: "c", name: "look", arguments: "{}" } });
    await life.say({ type: "finish", finish: "tool_calls", usage: null });

    await expect(openai.conversations.items.create(id, { items: [user("b")] })).rejects.toMatchObject({
      status: 409,
      code: "conversation_locked",
    });
    const added = await openai.conversations.items.create(id, { items: [output("c"), user("b")] });
    await settle();

    expect(added.data.map(toText)).toEqual(['output: "result c"', "user: b"]);
    expect((await list({ order: "asc" })).map(toText)).toEqual(["user: Weather?", "call: c", 'output: "result c"', "user: b"]);
    expect(life.calls).toHaveLength(1);
  });

  it.each([
    ["an SDK counts its tries", {}, { "x-stainless-retry-count": "1" }],
    ["a client names a key", { "Idempotency-Key": "k" }, { "Idempotency-Key": "k" }],
  ])("that are sent again are appended once, results too, where %s", async (_, headers, again) => {
    const { life, openai, id, list } = await conversation(call("1"));
    const imported = { items: [output("1")] };
    const first = await openai.conversations.items.create(id, imported, { headers });
    expect(await openai.conversations.items.create(id, imported, { headers: again })).toEqual(first);
    await life.send("Weather?");
    life.call.say({ type: "tool_call", call: { type: "tool_call", call_id: "c", name: "look", arguments: "{}" } });
    await life.say({ type: "finish", finish: "tool_calls", usage: null });

    const answers = { items: [output("c")] };
    const keyed = (given: object) => ({ headers: "Idempotency-Key" in given ? { "Idempotency-Key": "other" } : { ...given } });
    const second = await openai.conversations.items.create(id, answers, keyed(headers));
    expect(await openai.conversations.items.create(id, answers, keyed(again))).toEqual(second);
    expect((await list({ order: "asc" })).map(toText)).toEqual([
      ...["call: 1", 'output: "result 1"', "user: Weather?", "call: c", 'output: "result c"'],
    ]);
  });

  it("that are deleted are in no list, and the conversation is returned", async () => {
    const { life, openai, id, list } = await conversation(user("secret"), call("1"), output("1", "a secret"));
    const before = await list({ order: "asc" });

    for (const [index, item] of before.entries()) {
      const left = await openai.conversations.items.delete(item.id ?? "", { conversation_id: id });
      expect(left).toMatchObject({ id, object: "conversation" });
      expect(await list({ order: "asc" })).toEqual(before.slice(index + 1));
      const gone = { status: 404, code: "item_not_found" };
      await expect(openai.conversations.items.retrieve(item.id ?? "", { conversation_id: id })).rejects.toMatchObject(gone);
      await expect(openai.conversations.items.delete(item.id ?? "", { conversation_id: id })).rejects.toMatchObject(gone);
    }

    await life.send("And now?");
    expect(life.call.messages).toEqual(["user: And now?"]);
  });

  it("that are deleted leave pages full, with the truth about more, and a place to go on from", async () => {
    const all = Array.from({ length: 12 }, (_, n) => user(`${n}`));
    const { openai, id, list } = await conversation(...all, call("1"), call("2"), call("3"), output("1"), output("2"), output("3"));
    const before = await list({ order: "asc" });
    const gone = [1, 2, 3, 5, 8, 9, 12, 14].map((index) => before[index]?.id ?? "");
    for (const item of gone) await openai.conversations.items.delete(item, { conversation_id: id });
    const left = before.filter((item) => !gone.includes(item.id ?? ""));

    for (const limit of [1, 2, 3, 4, 5, 100])
      for (const order of ["asc", "desc"] as const) {
        const told = order === "asc" ? left : left.toReversed();
        expect(await list({ limit, order })).toEqual(told);
        const page = await openai.conversations.items.list(id, { limit, order });
        expect([page.data.length, page.has_more]).toEqual([Math.min(limit, told.length), limit < told.length]);
        for (const after of gone) {
          const place = before.findIndex((item) => item.id === after);
          const rest = told.filter((item) => (order === "asc" ? before.indexOf(item) > place : before.indexOf(item) < place));
          expect(await list({ limit, order, after })).toEqual(rest);
        }
      }
  });

  it("that are deleted at the end are gone for the model, and those before them are named as missing", async () => {
    const { life, openai, id, list } = await conversation(user("a"), user("b"), user("c"), user("d"));
    const items = await list({ order: "asc" });
    const remove = (index: number) => openai.conversations.items.delete(items[index]?.id ?? "", { conversation_id: id });
    await remove(1);
    await remove(3);
    await life.send("Which?");
    expect(life.call.messages).toEqual(["user: a", "user: [redacted]", "user: c", "user: Which?"]);
    await life.answer("None.");

    const [answer, question] = await list();
    for (const item of [answer, question, items[2]]) await openai.conversations.items.delete(item?.id ?? "", { conversation_id: id });
    await life.send("And now?");
    expect(life.call.messages).toEqual(["user: a", "user: And now?"]);
  });

  it("of a turn that runs are deleted after it, and those of a turn that waits end it", async () => {
    const { life, openai, id, list } = await conversation(user("a"));
    await life.send("Weather?");
    const [question, first] = await list();
    const remove = (item = "") => openai.conversations.items.delete(item, { conversation_id: id });
    await expect(remove(question?.id)).rejects.toMatchObject({ status: 409, code: "conversation_locked" });
    await remove(first?.id);
    life.call.say({ type: "tool_call", call: { type: "tool_call", call_id: "c", name: "look", arguments: "{}" } });
    await life.say({ type: "finish", finish: "tool_calls", usage: null });

    for (const item of await list()) await remove(item.id);
    expect(await list()).toEqual([]);
    expect(life.runtime.state).toMatchObject({ turn: null });
    await life.send("And now?");
    expect(life.call.messages).toEqual(["user: And now?"]);
  });

  it.each([
    [{ items: [] }, "items"],
    [{ items: Array.from({ length: 21 }, () => user("x")) }, "items"],
    [{ items: [user("x"), { type: "web_search_call" }] }, "items[1].type"],
    [{ items: [{ type: "mcp_approval_response", approval_request_id: `mcpr_${makeId("exe").slice(4)}`, approve: true }] }, "items[0]"],
    [{}, "items"],
  ])("are refused by name: %#", async (body, param) => {
    const { openai, id } = await conversation();
    await expect(openai.post(`/conversations/${id}/items`, { body })).rejects.toMatchObject({ status: 400, param });
  });

  it.each([
    ["limit=0", "limit"],
    ["limit=101", "limit"],
    ["limit=x", "limit"],
    ["order=up", "order"],
    ["after=msg_x", "after"],
    [`after=${makeId("msg", 99)}`, "after"],
    ["include[]=everything", "include"],
  ])("are listed only with a query that is understood: %s", async (query, param) => {
    const { openai, id } = await conversation(user("a"));
    await expect(openai.get(`/conversations/${id}/items?${query}`)).rejects.toMatchObject({ status: 400, param });
  });

  it("are found by the names that older builds gave, and by no name of another conversation", async () => {
    const { openai, id, list } = await conversation(user("a"), user("b"));
    const [first, second] = await list({ order: "asc" });
    const toOld = (name = ""): string => `msg_${name.slice(-26)}`;
    const foreign = `msg_${makeId("ses", 99).slice(4)}${first?.id?.slice(-26)}`;

    expect(await openai.conversations.items.retrieve(toOld(first?.id), { conversation_id: id })).toEqual(first);
    const behind = await openai.conversations.items.list(id, { after: toOld(first?.id), order: "asc" });
    expect(behind.data).toEqual([second]);
    await expect(openai.conversations.items.retrieve(foreign, { conversation_id: id })).rejects.toMatchObject({ status: 404 });
    await expect(openai.get(`/conversations/${id}/items?after=${foreign}`)).rejects.toMatchObject({ status: 400, param: "after" });
    await openai.conversations.items.delete(toOld(first?.id), { conversation_id: id });
    await expect(openai.conversations.items.retrieve(first?.id ?? "", { conversation_id: id })).rejects.toMatchObject({ status: 404 });
  });

  it("that there are not are unknown", async () => {
    const { openai, id, list } = await conversation(user("a"));
    const [message] = await list();
    for (const name of ["msg_x", makeId("msg", 99), `rs_${message?.id?.slice(4)}`, `fc_${message?.id?.slice(4)}`]) {
      await expect(openai.conversations.items.retrieve(name, { conversation_id: id })).rejects.toMatchObject({
        status: 404,
        code: "item_not_found",
      });
      await expect(openai.conversations.items.delete(name, { conversation_id: id })).rejects.toMatchObject({ status: 404 });
    }
  });
});

interface Act {
  readonly kind: "add" | "run" | "pop" | "delete";
  readonly which: number;
}

const anyActs = fc.array(fc.record<Act>({ kind: fc.constantFrom("add", "run", "pop", "pop", "delete"), which: fc.nat({ max: 1_000 }) }), {
  minLength: 1,
  maxLength: 30,
});

interface Said {
  readonly text: string;
  readonly isDeleted: boolean;
}

/** A conversation, and what is expected of it. */
class Played {
  said: readonly Said[] = [];
  readonly of: Awaited<ReturnType<typeof conversation>>;

  constructor(of: Awaited<ReturnType<typeof conversation>>) {
    this.of = of;
  }

  get left(): readonly Said[] {
    return this.said.filter(({ isDeleted }) => !isDeleted);
  }

  #note(...texts: readonly string[]): void {
    this.said = [...this.said, ...texts.map((text) => ({ text, isDeleted: false }))];
  }

  async add(text: string): Promise<void> {
    await this.of.openai.conversations.items.create(this.of.id, { items: [user(text)] });
    this.#note(`user: ${text}`);
  }

  async run(text: string): Promise<void> {
    const { life } = this.of;
    await life.send(text);
    const told = this.said.map((each) => (each.isDeleted ? each.text.replace(/: .*/, ": [redacted]") : each.text));
    expect(life.call.messages).toEqual([...told, `user: ${text}`]);
    await life.answer(`reply to ${text}`);
    this.#note(`user: ${text}`, `assistant: reply to ${text}`);
  }

  async remove(nth: number): Promise<void> {
    const { openai, id, list } = this.of;
    const [gone, item] = [this.left[nth], (await list({ order: "asc" }))[nth]];
    if (!gone) return;
    await openai.conversations.items.delete(item?.id ?? "", { conversation_id: id });
    const said = this.said.map((each) => (each === gone ? { ...each, isDeleted: true } : each));
    this.said = said.slice(0, said.findLastIndex(({ isDeleted }) => !isDeleted) + 1);
  }

  async play({ kind, which }: Act, n: number): Promise<void> {
    if (kind === "add") await this.add(`add ${n}`);
    if (kind === "run") await this.run(`run ${n}`);
    if (kind === "pop") await this.remove(this.left.length - 1);
    if (kind === "delete") await this.remove(which % Math.max(1, this.left.length));
    expect((await this.of.list({ order: "asc" })).map(toText)).toEqual(this.left.map(({ text }) => text));
  }
}

describe("any items that are added, answered, popped and deleted", () => {
  it("are listed as far as they are left, and read without what was deleted at the end", async () => {
    await fc.assert(
      fc.asyncProperty(anyActs, async (acts) => {
        const played = new Played(await conversation());
        for (const [n, act] of acts.entries()) await played.play(act, n);
        await played.run("the end");
      }),
      { numRuns: drawn(25) },
    );
  }, 60_000);
});

describe("files of items", () => {
  const facts = { name: null, media_type: "image/png", bytes: 10, tokens: 1_600 };
  const image = (file_id: string) => ({
    role: "user" as const,
    content: [
      { type: "input_text" as const, text: "Look:" },
      { type: "input_image" as const, detail: "auto" as const, file_id },
    ],
  });

  it("are looked up, and shown by their ids", async () => {
    const { openai } = connect({ tenant: { useFiles: async ({ files }) => ok(files.map((file_id) => ({ file_id, ...facts }))) } });
    const { id } = await openai.conversations.create({ items: [image(makeId("fil"))] });

    const { data } = await openai.conversations.items.list(id);

    expect(data).toMatchObject([
      {
        content: [
          { type: "input_text", text: "Look:" },
          { type: "input_image", file_id: makeId("fil"), image_url: null },
        ],
      },
    ]);
  });

  it("that are missing are named as the client wrote them", async () => {
    const { openai } = connect({
      tenant: { useFiles: async ({ files }) => (files.length === 0 ? ok([]) : err({ code: "file_not_found", file: files[0] ?? "" })) },
    });

    const refused = openai.conversations.create({ items: [user("a"), image(makeId("fil"))] });

    await expect(refused).rejects.toMatchObject({ status: 400, param: "items[1].content[1].file_id" });
  });
});

describe("a call that the server ran", () => {
  it("is one item with its result, on whichever page it is, and goes with it", async () => {
    const { life, openai, id, list } = await conversation();
    await life.service.patch(CALLER, { tools: [{ name: "look", parameters: { type: "object" }, runs: { by: "http", tool: "look" } }] });
    await life.send("Weather?");
    for (const call_id of ["c", "d"])
      life.call.say({ type: "tool_call", call: { type: "tool_call", call_id, name: "look", arguments: "{}" } });
    await life.say({ type: "finish", finish: "tool_calls", usage: null });
    await life.answer("Sun.");

    const all = await list({ order: "asc" });
    expect(all.map(toText)).toEqual(["user: Weather?", "mcp_call", "mcp_call", "assistant: Sun."]);
    expect(all[1]).toMatchObject({ type: "mcp_call", name: "look", arguments: "{}", server_label: "longhand" });
    for (const limit of [1, 2, 3]) {
      expect(await list({ limit, order: "asc" })).toEqual(all);
      expect(await list({ limit })).toEqual(all.toReversed());
    }
    for (const item of all) expect(await openai.conversations.items.retrieve(item.id ?? "", { conversation_id: id })).toEqual(item);
    await openai.conversations.items.delete(all[1]?.id ?? "", { conversation_id: id });
    expect(await list({ order: "asc" })).toEqual(all.toSpliced(1, 1));
    const records = await life.service.items(CALLER, { after: null, limit: 10, order: "asc" });
    const outputs = records.ok ? records.value.data.filter(({ role }) => role === "tool").map(({ content }) => content) : [];
    expect(outputs[0]).toEqual([{ type: "text", text: "[redacted]" }]);
    expect(outputs[1]).not.toEqual(outputs[0]);
  });
});
