/** The item of type `compaction` that a response shows first, where its request had the conversation compacted. */
import type OpenAI from "openai";
import { describe, expect, it } from "vitest";
import type { SessionId } from "../../../src/domain/ids";
import { createCompactionSealer } from "../../../src/tenant/credentials/compaction-sealer";
import { FakeSchedule } from "../../support/fake-schedule";
import { FOREIGN_TENANT, KEY, TENANT } from "../support";
import { compactAbove, connectCompacting } from "./compacting-life";
import { calls } from "./response-life";

const MODEL = "test-model";
const LONG = "word ".repeat(60);
const LOOK = { type: "function" as const, name: "look", parameters: { type: "object", properties: {} }, strict: false };

type World = ReturnType<typeof connectCompacting>;
type Response = OpenAI.Responses.Response;
type Input = OpenAI.Responses.ResponseInput;
type Asked = Partial<OpenAI.Responses.ResponseCreateParamsNonStreaming>;

const user = (content: string) => ({ role: "user" as const, content });
const readSession = ({ id }: Pick<Response, "id">): SessionId => `ses_${id.slice(5, 31)}` as SessionId;
const toInput = ({ output }: Response): Input => output as Input;

const ask = ({ openai, whileWorking }: World, input: string | Input, asked: Asked = {}): Promise<Response> =>
  whileWorking(openai.responses.create({ model: MODEL, input, ...asked }));

/** A chain of `count` responses. The last one is returned. */
async function talk(world: World, count = 4, asked: Asked = {}): Promise<Response> {
  let last: Response | null = null;
  for (let n = 1; n <= count; n++)
    last = await ask(world, `question ${n} ${LONG}`, { ...asked, ...(last && !asked.conversation && { previous_response_id: last.id }) });
  if (!last) throw new Error("nothing was said");
  return last;
}

/** A chain whose newest response has a compaction. */
async function talkCompacted(world: World, asked: Asked = {}): Promise<Response> {
  const { id } = await talk(world);
  return ask(world, "And now?", { previous_response_id: id, ...compactAbove(200), ...asked });
}

function findCompaction({ output }: Pick<Response, "output">) {
  const found = output.filter((item) => item.type === "compaction");
  expect(found.length).toBeLessThanOrEqual(1);
  return found[0] ?? null;
}

const count = (read: readonly string[], text: string): number => read.join("\n").split(text).length - 1;

describe("a response that was compacted first", () => {
  it("has one item for it, before all others, and the same wherever it is read", async () => {
    const world = connectCompacting();
    const response = await talkCompacted(world);

    expect(response.output.map(({ type }) => type)).toEqual(["compaction", "message"]);
    expect(findCompaction(response)).toEqual({
      type: "compaction",
      id: expect.stringMatching(/^cmp_[0-9A-Z]{52}$/),
      encrypted_content: expect.any(String),
    });
    expect((await world.openai.responses.retrieve(response.id)).output).toEqual(response.output);
  });

  it("begins its stream with the item, and tells it again from every event on", async () => {
    const world = connectCompacting();
    const { id } = await talk(world);
    const stream = world.openai.responses.stream({ model: MODEL, input: "And now?", previous_response_id: id, ...compactAbove(200) });
    const told: OpenAI.Responses.ResponseStreamEvent[] = [];
    stream.on("event", (event) => void told.push(event));
    const response = await world.whileWorking(stream.finalResponse());

    expect(told.slice(0, 4)).toMatchObject([
      { type: "response.created", response: { output: [] } },
      { type: "response.in_progress", response: { output: [] } },
      { type: "response.output_item.added", output_index: 0, item: response.output[0] ?? {} },
      { type: "response.output_item.done", output_index: 0, item: response.output[0] ?? {} },
    ]);
    expect(findCompaction(response)).not.toBeNull();
    const retrieved = await world.openai.responses.retrieve(response.id);
    expect(retrieved.output).toMatchObject(response.output.map(({ type, id: item }) => ({ type, id: item })));
    expect(findCompaction(retrieved)).toEqual(findCompaction(response));
    for (const { sequence_number: after } of told) {
      const rest: unknown[] = [];
      for await (const event of await world.openai.responses.retrieve(response.id, { stream: true, starting_after: after }))
        rest.push(event);
      expect(rest).toMatchObject(told.slice(after + 1).map(({ type, sequence_number }) => ({ type, sequence_number })));
    }
  });

  it("in the background shows it as soon as it runs", async () => {
    const world = connectCompacting();
    const response = await talkCompacted(world, { background: true });
    const item = findCompaction(response);
    expect([response.status === "queued", item === null]).toEqual([response.status === "queued", response.status === "queued"]);
    await world.settle();

    const whole = await world.openai.responses.retrieve(response.id);
    expect(whole.output.map(({ type }) => type)).toEqual(["compaction", "message"]);
    if (item) expect(findCompaction(whole)).toEqual(item);
  });

  it("shows it in the response of the question, and not in the one after the client's results", async () => {
    const world = connectCompacting();
    const { id } = await talk(world);
    const { say } = world.model;
    world.model.say = (request, nth) => (request.purpose === "compaction" ? say(request, nth) : calls({ call_id: "a" }));
    const asked = { previous_response_id: id, tools: [LOOK], ...compactAbove(200) };
    const first = await ask(world, "Look.", asked);
    world.model.say = say;
    const output = { type: "function_call_output" as const, call_id: "a", output: "21" };
    const second = await ask(world, [output], { ...asked, previous_response_id: first.id });

    expect(first.output.map(({ type }) => type)).toEqual(["compaction", "function_call"]);
    expect([second.id, second.output.map(({ type }) => type)]).toEqual([`${first.id}_2`, ["message"]]);
    for (const each of [first, second]) expect((await world.openai.responses.retrieve(each.id)).output).toEqual(each.output);
  });

  it.each<[string, (world: World, last: Response) => Promise<Response>]>([
    ["asked for none", (world, { id }) => ask(world, "Now?", { previous_response_id: id })],
    ["is below its threshold", (world, { id }) => ask(world, "Now?", { previous_response_id: id, ...compactAbove(500_000) })],
    ["begins a session", (world) => ask(world, `Now? ${LONG.repeat(9)}`, compactAbove(10))],
  ])("has no item where it %s", async (_, next) => {
    const world = connectCompacting();
    const response = await next(world, await talk(world));

    expect(response.output.map(({ type }) => type)).toEqual(["message"]);
    expect((await world.openai.responses.retrieve(response.id)).output).toEqual(response.output);
  });

  it("has no item where the compaction failed", async () => {
    const world = connectCompacting();
    const { id } = await talk(world);
    const { say } = world.model;
    world.model.say = (request, nth) =>
      request.purpose === "compaction" ? [{ type: "failure", failure: { kind: "refused", status: 400 } }] : say(request, nth);

    const response = await ask(world, "Now?", { previous_response_id: id, ...compactAbove(200) });

    expect(response.output.map(({ type }) => type)).toEqual(["message"]);
  });

  it("does not wait for longer than two minutes, and has no item then", async () => {
    const time = new FakeSchedule();
    const world = connectCompacting({ deps: { schedule: time.schedule } });
    const { id } = await talk(world);
    const answers = world.answered.length;
    const held = world.openai.responses.create({ model: MODEL, input: "Now?", previous_response_id: id, ...compactAbove(200) });
    const life = world.lives.get(readSession({ id }));
    await expect.poll(() => life?.runtime.state.compaction.requested ?? null).not.toBeNull();
    time.advance(119_999);
    await world.settle();
    expect(world.answered).toHaveLength(answers);

    time.advance(1);

    const response = await held;
    expect(response.output.map(({ type }) => type)).toEqual(["message"]);
    expect(world.answered).toHaveLength(answers + 1);
  });
});

describe("the item of a stored response, sent back", () => {
  it("is the summary and what it left verbatim, up to the response's own question, and nothing before it is said twice", async () => {
    const world = connectCompacting();
    const response = await talkCompacted(world);
    const history = [user(`question 1 ${LONG}`), user(`question 4 ${LONG}`), user("And now?")];
    const item = findCompaction(response);

    for (const before of [[], history]) {
      await ask(world, [...before, ...toInput(response), user("More?")], { store: false });

      const read = world.lastRead();
      expect(read[0]).toContain("summary 1");
      expect(read.slice(1).map((text) => text.split(" word")[0])).toEqual([
        "assistant: reply 4.",
        "user: And now?",
        "assistant: reply 5.",
        "user: More?",
      ]);
    }
    const counted = await world.openai.responses.inputTokens.count({ input: [...history, item as never] });
    expect(counted.input_tokens).toBeLessThan(400);
  });

  it("stays as it was when the conversation goes on, is compacted again and goes back", async () => {
    const world = connectCompacting();
    const response = await talkCompacted(world);
    const item = findCompaction(response) as never;
    await ask(world, [item, user("More?")]);
    const before = world.lastRead();

    let last = response;
    for (let n = 0; n < 4; n++) last = await ask(world, `later ${n} ${LONG}`, { previous_response_id: last.id });
    const again = await ask(world, "Again?", { previous_response_id: last.id, ...compactAbove(200) });
    await ask(world, "Elsewhere.", { previous_response_id: response.id });

    expect(findCompaction(again)?.id).not.toBe(findCompaction(response)?.id);
    await ask(world, [item, user("More?")]);
    expect(world.lastRead()).toEqual(before);
    expect(findCompaction(await world.openai.responses.retrieve(response.id))).toEqual(item);
    // Of several the newest stands for all before it.
    await ask(world, [...toInput(response), ...toInput(again), user("More?")]);
    expect(count(world.lastRead(), "summary 1")).toBe(0);
    expect(world.lastRead()[0]).toContain("summary 2");
  });

  it("goes on in its session where the input repeats what followed it, and in a new one where it does not", async () => {
    const world = connectCompacting();
    const response = await talkCompacted(world);
    const second = await ask(world, [...toInput(response), user("More?")]);
    const third = await ask(world, [user("old"), ...toInput(response), user("More?"), ...toInput(second), user("And more?")]);

    expect([second, third].map(readSession)).toEqual([readSession(response), readSession(response)]);
    expect([count(world.lastRead(), "summary 1"), count(world.lastRead(), "reply 5."), count(world.lastRead(), "More?")]).toEqual([
      1, 1, 1,
    ]);
    // The conversation has gone on from there, so that this is a branch of it.
    const branch = await ask(world, [...toInput(response), user("Elsewhere?")]);
    expect(readSession(branch)).toBe(readSession(response));
    expect([count(world.lastRead(), "More?"), count(world.lastRead(), "summary 1")]).toEqual([0, 1]);

    const [item, said] = toInput(response) as [OpenAI.Responses.ResponseInputItem, OpenAI.Responses.ResponseOutputMessage];
    const changed = { ...said, content: [{ type: "output_text" as const, text: "Never said.", annotations: [] }] };
    for (const other of [[item, changed], [item, user("Then?"), said], toInput(response).slice(1)])
      expect(readSession(await ask(world, [...other, user("More?")]))).not.toBe(readSession(response));
  });

  it("is of its own branch: what another branch says after it does not go on there", async () => {
    const world = connectCompacting();
    const first = await talk(world);
    const response = await ask(world, "And now?", { previous_response_id: first.id, ...compactAbove(200) });
    const beside = await ask(world, "Beside?", { previous_response_id: first.id });

    const mixed = await ask(world, [findCompaction(response) as never, ...toInput(beside), user("More?")]);

    expect(readSession(beside)).toBe(readSession(response));
    expect(readSession(mixed)).not.toBe(readSession(response));
  });

  it("says nothing that the model reads at the named response or conversation", async () => {
    const world = connectCompacting();
    const { id: conversation } = await world.openai.conversations.create();
    await talk(world, 4, { conversation });
    const response = await ask(world, "And now?", { conversation, ...compactAbove(200) });
    const item = findCompaction(response) as never;

    for (const place of [{ previous_response_id: response.id }, { conversation }]) {
      await ask(world, [item, user("More?")], place);
      const read = world.lastRead();
      expect([count(read, "summary 1"), count(read, "And now?"), count(read, "reply 5.")]).toEqual([1, 1, 1]);
    }
  });

  it("is no start of a branch that was begun before it", async () => {
    const world = connectCompacting();
    const response = await talkCompacted(world);
    const session = readSession(response);
    const service = world.lives.get(session)?.service;
    const page = await service?.items({ tenant: TENANT, session }, { after: null, limit: 2, order: "asc" });
    const reply = page?.ok ? page.value.data[1]?.id : undefined;
    if (reply) await service?.regenerate({ tenant: TENANT, session }, { message: reply, idempotency: null });
    await world.settle();
    const listed = await world.openai.conversations.items.list(`conv_${session.slice(4)}`, { order: "asc" });
    const again = listed.data.filter((item) => item.type === "message" && item.role === "assistant");

    const mixed = await ask(world, [findCompaction(response), ...again, user("More?")] as Input);

    expect(again).toHaveLength(1);
    expect(readSession(mixed)).not.toBe(session);
  });

  it("is taken wherever items are: by a new conversation, by one that goes on, and to be compacted again", async () => {
    const world = connectCompacting();
    const { openai } = world;
    const items = [user("old"), findCompaction(await talkCompacted(world)) as never, user("More?")];
    const created = await openai.conversations.create({ items });
    const other = await openai.conversations.create();
    await openai.conversations.items.create(other.id, { items });
    const compacted = await world.whileWorking(openai.responses.compact({ model: MODEL, input: items }));
    await ask(world, [...(compacted.output as Input), user("Then?")]);

    for (const { id } of [created, other]) {
      const { data } = await openai.conversations.items.list(id, { order: "asc" });
      expect(data.map((item) => (item.type === "message" ? item.role : item.type))).toEqual(["user", "assistant", "user", "user"]);
    }
    const read = world.lastRead();
    expect([count(read, "summary 1"), count(read, "reply 4."), count(read, "And now?"), count(read, "old")]).toEqual([1, 1, 1, 0]);
  });

  it("brings calls with their results, and nothing that was redacted since", async () => {
    const world = connectCompacting();
    const { id } = await talk(world);
    const { say } = world.model;
    world.model.say = (request, nth) => (request.purpose === "compaction" ? say(request, nth) : calls({ call_id: "a" }, { call_id: "b" }));
    const called = await ask(world, "Look.", { previous_response_id: id, tools: [LOOK] });
    world.model.say = say;
    const results = ["a", "b"].map((call_id) => ({ type: "function_call_output" as const, call_id, output: `${call_id} secret` }));
    const answered = await ask(world, results, { previous_response_id: called.id, tools: [LOOK] });
    const response = await ask(world, "My secret?", { previous_response_id: answered.id, ...compactAbove(250) });
    const item = findCompaction(response) as never;
    expect(item).not.toBeNull();
    await ask(world, [item, user("More?")]);
    expect(world.lastRead().filter((text) => text.includes("secret"))).toHaveLength(3);

    const life = world.lives.get(readSession(response));
    const session = readSession(response);
    const page = await life?.service.items({ tenant: TENANT, session }, { after: null, limit: 100, order: "asc" });
    for (const message of page?.ok ? page.value.data : []) {
      const own = message.content.some((part) => "text" in part && /a secret|My secret/.test(part.text));
      if (own) await life?.service.redact({ tenant: TENANT, session }, message.id);
    }

    await ask(world, [item, user("More?")]);
    const read = world.lastRead();
    expect(read.filter((text) => text.includes("secret"))).toEqual(["tool: b secret"]);
    expect(read.filter((text) => text.startsWith("tool:"))).toHaveLength(2);
  });

  it("has no summary any more where a redaction has removed what it was made from", async () => {
    const world = connectCompacting();
    const response = await talkCompacted(world);
    const [life, session] = [world.lives.get(readSession(response)), readSession(response)];
    const page = await life?.service.items({ tenant: TENANT, session }, { after: null, limit: 1, order: "asc" });
    const first = page?.ok ? page.value.data[0]?.id : undefined;
    if (first) await life?.service.redact({ tenant: TENANT, session }, first);

    await ask(world, [findCompaction(response) as never, user("More?")]);

    expect(world.lastRead().map((text) => text.split(" word")[0])).toEqual(["assistant: reply 4.", "user: And now?", "user: More?"]);
  });

  it("is refused, by the field, once its conversation is deleted, for another tenant, and when it was changed", async () => {
    const world = connectCompacting();
    const response = await talkCompacted(world);
    const item = findCompaction(response);
    const other = await createCompactionSealer({ current: "a-pepper-for-tests-only", previous: null }, () => 0).sealAlike(
      FOREIGN_TENANT,
      JSON.stringify({ session: "ses_" }),
    );
    const refused = { status: 400, param: "input[1].encrypted_content" };
    for (const encrypted_content of [other, `${item?.encrypted_content}A`])
      await expect(ask(world, [user("A"), { type: "compaction", encrypted_content }])).rejects.toMatchObject(refused);

    await world.openai.conversations.delete(`conv_${readSession(response).slice(4)}`);

    await expect(ask(world, [user("A"), item as never, user("B")])).rejects.toMatchObject({
      ...refused,
      message: expect.stringContaining("The conversation of this compaction does not exist any more."),
    });
  });
});

describe("the item of a response that is not stored", () => {
  const PICTURE = "https://example.com/zephyrine.png";
  const past = (pairs: number): Input =>
    Array.from({ length: pairs }, (_, n) => [
      user(`question ${n + 1} ${LONG}`),
      { role: "assistant" as const, content: `reply ${n + 1}. ${LONG}` },
    ]).flat();

  it("holds the content, and comes back whole without the session", async () => {
    const world = connectCompacting();
    const call = { type: "function_call" as const, call_id: "a", name: "look", arguments: "{}" };
    const output = { type: "function_call_output" as const, call_id: "a", output: "21 degrees" };
    const input = [...past(4), user("Weather?"), call, output];
    const asked = { store: false, tools: [LOOK], ...compactAbove(200) };
    const response = await ask(world, input, asked);
    const item = findCompaction(response);
    expect(response.output.map(({ type }) => type)).toEqual(["compaction", "message"]);
    expect(item?.encrypted_content).toMatch(/^lhc1_/);

    for (const before of [input, []]) {
      await ask(world, [...before, ...toInput(response), user("More?")], { ...asked, context_management: null });
      const read = world.lastRead();
      expect([count(read, "summary 1"), count(read, "Weather?"), count(read, "21 degrees"), count(read, "More?")]).toEqual([1, 1, 1, 1]);
      expect(count(read, "question 1")).toBe(0);
    }
  });

  it("is the same in the stream as in the response that ends it", async () => {
    const world = connectCompacting();
    const stream = world.openai.responses.stream({
      model: MODEL,
      input: [...past(4), user("Now?")],
      store: false,
      ...compactAbove(200),
    });
    const told: OpenAI.Responses.ResponseStreamEvent[] = [];
    stream.on("event", (event) => void told.push(event));
    const response = await world.whileWorking(stream.finalResponse());

    const item = findCompaction(response);
    expect(told.flatMap((event) => ("item" in event && event.item.type === "compaction" ? [event.item] : []))).toEqual([item, item]);
    expect(item).not.toBeNull();
  });

  it("names a picture as the client did", async () => {
    const world = connectCompacting();
    const picture = { role: "user" as const, content: [{ type: "input_image" as const, image_url: PICTURE, detail: "auto" as const }] };
    const input = [...past(4), picture, { role: "assistant" as const, content: "A dot." }, user("Now?")];
    const response = await ask(world, input, { store: false, ...compactAbove(400) });
    const opened = await createCompactionSealer({ current: "a-pepper-for-tests-only", previous: null }, () => 0).open(
      TENANT,
      findCompaction(response)?.encrypted_content ?? "",
    );

    expect(opened).toContain(PICTURE);
  });
});

describe("a conversation", () => {
  async function converse() {
    const world = connectCompacting();
    const { id: conversation } = await world.openai.conversations.create();
    await talk(world, 4, { conversation });
    const response = await ask(world, "And now?", { conversation, ...compactAbove(200) });
    const item = findCompaction(response);
    if (!item) throw new Error("no compaction");
    return { ...world, world, conversation, response, item };
  }

  it("lists the item before the first of its response, on pages of any size", async () => {
    const { openai, conversation, response, item } = await converse();
    const listed = async (order: "asc" | "desc", limit: number): Promise<(string | null | undefined)[]> => {
      const found: (string | null | undefined)[] = [];
      for await (const { id } of openai.conversations.items.list(conversation, { order, limit })) found.push(id);
      return found;
    };
    const all = await listed("asc", 100);

    expect(all).toHaveLength(11);
    expect(all.slice(-2)).toEqual(response.output.map(({ id }) => id));
    for (const limit of [1, 2, 3, 10]) {
      expect(await listed("asc", limit)).toEqual(all);
      expect(await listed("desc", limit)).toEqual(all.toReversed());
    }
    expect(await openai.conversations.items.retrieve(item.id, { conversation_id: conversation })).toEqual(item);
  });

  it("keeps the item until its response is deleted: deleting it is refused", async () => {
    const { openai, conversation, item, response, world } = await converse();
    const place = { conversation_id: conversation };
    await ask(world, "Then?", { conversation });

    await expect(openai.conversations.items.delete(item.id, place)).rejects.toMatchObject({ status: 400, param: "item_id" });
    expect(await openai.conversations.items.retrieve(item.id, place)).toEqual(item);
    await openai.responses.delete(response.id);
    await expect(openai.conversations.items.retrieve(item.id, place)).rejects.toMatchObject({ status: 404 });
  });

  it("does not count the item as an input", async () => {
    const { openai, response } = await converse();
    const { data } = await openai.responses.inputItems.list(response.id);

    expect(data).toMatchObject([{ type: "message", role: "user" }]);
  });

  it("lists no item for a note that is not of a response", async () => {
    const { openai, app, conversation } = await converse();
    const { length } = (await openai.conversations.items.list(conversation, { limit: 100 })).data;
    const session = `ses_${conversation.slice(5)}` as SessionId;
    const note = '{"compaction":"cmp_01JD8Z3V6Q4N7R2T5W9X0Y1A2B"}';
    const said = await app.request(`/v1/sessions/${session}/messages`, {
      method: "POST",
      headers: { authorization: `Bearer ${KEY}`, "content-type": "application/json", accept: "application/json" },
      body: JSON.stringify({ content: "Natively?", note }),
    });

    expect(said.ok).toBe(true);
    await expect.poll(async () => (await openai.conversations.items.list(conversation, { limit: 100 })).data).toHaveLength(length + 2);
  });

  it("knows no item of another conversation, or of a response without one", async () => {
    const { openai, conversation, item, world } = await converse();
    const other = await openai.conversations.create();
    const plain = await ask(world, "Then?", { conversation });
    const names = [item.id.replace("cmp_", "cmp_0"), `cmp_${plain.id.slice(5)}`];

    await expect(openai.conversations.items.retrieve(item.id, { conversation_id: other.id })).rejects.toMatchObject({ status: 404 });
    for (const name of names)
      await expect(openai.conversations.items.retrieve(name, { conversation_id: conversation })).rejects.toMatchObject({ status: 404 });
  });
});
