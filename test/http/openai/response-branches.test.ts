/** Each response is a fixed place: any number of requests continue it, at any time and several at once, and none of them sees another. */
import fc from "fast-check";
import type OpenAI from "openai";
import { describe, expect, it } from "vitest";
import type { ModelRequest } from "../../../src/app/ports";
import type { TenantApi } from "../../../src/app/tenant-api";
import type { SessionId } from "../../../src/domain/ids";
import { err, ok } from "../../../src/lib/result";
import { ROOMY } from "../../session/talk";
import { drawn } from "../../support/effort";
import { TENANT } from "../support";
import { calls, connect, says, show } from "./response-life";

const LOOK = { type: "function" as const, name: "look", description: null, parameters: { type: "object", properties: {} }, strict: false };
const asked = { model: "test-model", tools: [LOOK] };
const output = (call_id: string, text: string) => ({ type: "function_call_output" as const, call_id, output: text });

/** The words that the model was asked with last. */
const newest = (request: ModelRequest): string => show(request).at(-1) ?? "";

/** Calls a tool where a message asks for it, with a call of its own for each, and repeats what it reads otherwise. */
function answerByWords(request: ModelRequest) {
  const [, names = ""] = /^user: look (.*)$/.exec(newest(request)) ?? [];
  return names === "" ? says(`(${newest(request)})`) : calls(...names.split(" ").map((call_id) => ({ call_id })));
}

function connectBranches(input: Parameters<typeof connect>[0] = {}) {
  const connected = connect(input);
  connected.model.say = answerByWords;
  const { openai } = connected;
  const create = (text: string | OpenAI.Responses.ResponseInput, previous?: { readonly id: string }) =>
    openai.responses.create({ ...asked, input: text, ...(previous && { previous_response_id: previous.id }) });
  return { ...connected, create };
}

const BY_HAND = { dryRun: false, instructions: null, keepRecent: 100, upTo: null, idempotency: null } as const;

const never = (): never => {
  throw new Error("There is no such request");
};

/** What the model read when it said this. */
const readBefore = (requests: readonly ModelRequest[], last: string): string[] =>
  show(requests.find((request) => newest(request) === last) ?? never());

describe("branches of one response", () => {
  it("that are asked for at once share its past, and see nothing of each other", async () => {
    const { create, requests, lives, model } = connectBranches();
    const first = await create("A");
    const names = ["one", "two", "three", "四", "five"];
    let arrive = (): void => {};
    const allAreThere = new Promise<void>((resolve) => {
      arrive = resolve;
    });
    // None is answered before all have been asked.
    model.say = async (request) => {
      if (requests.length === 1 + names.length) arrive();
      await allAreThere;
      return answerByWords(request);
    };

    const branches = await Promise.all(names.map((name) => create(name, first)));

    expect(branches.map(({ status, output_text }) => [status, output_text])).toEqual(names.map((name) => ["completed", `(user: ${name})`]));
    for (const name of names) expect(readBefore(requests, `user: ${name}`)).toEqual(["user: A", "assistant: (user: A)", `user: ${name}`]);
    expect(branches.map(({ previous_response_id: previous }) => previous)).toEqual(names.map(() => first.id));
    expect(new Set(branches.map(({ id }) => id)).size).toBe(5);
    expect(lives.size).toBe(5);
  });

  it("leave a sibling that waits for its tools as it is, and both go on", async () => {
    const { create, requests } = connectBranches();
    const first = await create("A");
    const waiting = await create("look a b", first);
    const other = await create("C", first);
    const answered = await create([output("b", "B"), output("a", "瓦")], waiting);
    const behind = await create("D", other);

    expect(readBefore(requests, "user: C")).toEqual(["user: A", "assistant: (user: A)", "user: C"]);
    const past = ["user: A", "assistant: (user: A)", "user: look a b", "assistant: tool_calltool_call"];
    expect(show(requests[3] ?? never())).toEqual([...past, "tool: 瓦", "tool: B"]);
    expect(answered).toMatchObject({ status: "completed", previous_response_id: waiting.id });
    expect(readBefore(requests, "user: D").slice(-3)).toEqual(["user: C", "assistant: (user: C)", "user: D"]);
    expect(behind.previous_response_id).toBe(other.id);
  });

  it("are continued from a response with calls that was answered otherwise before, once and at once", async () => {
    const { create, requests, openai } = connectBranches();
    const waiting = await create("look a");
    const answered = await create([output("a", "sun")], waiting);
    await create("B", answered);

    const again = await Promise.all(["rain", "snow"].map((text) => create([output("a", text)], waiting)));
    const withMessage = await create([output("a", "fog"), { role: "user", content: "C" }], waiting);

    for (const text of ["rain", "snow"])
      expect(readBefore(requests, `tool: ${text}`)).toEqual(["user: look a", "assistant: tool_call", `tool: ${text}`]);
    expect(again.map(({ output_text }) => output_text)).toEqual(["(tool: rain)", "(tool: snow)"]);
    expect(readBefore(requests, "user: C")).toEqual(["user: look a", "assistant: tool_call", "tool: fog", "user: C"]);
    const input = await openai.responses.inputItems.list(withMessage.id, { order: "asc" });
    expect(input.data.map(({ type }) => type)).toEqual(["function_call_output", "message"]);
    const retrieved = await openai.responses.retrieve(again[0]?.id ?? "");
    expect(retrieved).toMatchObject({ id: again[0]?.id, previous_response_id: waiting.id, output_text: "(tool: rain)" });
  });

  it("refuse what no response could be, and make no copy for it", async () => {
    const { create, lives } = connectBranches();
    const waiting = await create("look a b");
    await create([output("a", "1"), output("b", "2")], waiting);
    const refusals: readonly [Parameters<typeof create>[0], string][] = [
      ["Hello?", "No tool output found for function call a."],
      [[output("a", "x")], "No tool output found for function call b."],
      [[output("a", "x"), output("a", "y")], "No tool call found for function call output with call_id a."],
      [[output("a", "x"), output("b", "x"), output("c", "x")], "No tool call found for function call output with call_id c."],
    ];
    await Promise.all(
      refusals.map(([input, message]) =>
        expect(create(input, waiting)).rejects.toMatchObject({ status: 400, param: "input", error: { message } }),
      ),
    );
    await expect(create("x", { id: `${waiting.id}_3` })).rejects.toMatchObject({ status: 400, param: "previous_response_id" });
    expect(lives.size).toBe(1);
  });

  it("are deleted one by one", async () => {
    const { create, openai, requests } = connectBranches();
    const first = await create("A");
    const [one, two, three] = await Promise.all(["one", "two", "three"].map((name) => create(name, first)));

    await openai.responses.delete(two?.id ?? "");

    await expect(openai.responses.retrieve(two?.id ?? "")).rejects.toMatchObject({ status: 404 });
    expect((await openai.responses.retrieve(first.id)).output_text).toBe("(user: A)");
    for (const [index, sibling] of [one, three].entries()) {
      const next = await create(`next ${index}`, sibling);
      expect(next.status).toBe("completed");
      expect(readBefore(requests, `user: next ${index}`)).toHaveLength(5);
      expect(readBefore(requests, `user: next ${index}`)[0]).toBe("user: A");
    }
  });
});

/** One id for each key. */
function registerOnce(): TenantApi["registerSession"] {
  const known = new Map<string, SessionId>();
  return async ({ session, idempotency }) => {
    const key = idempotency?.key ?? session;
    const replayed = known.has(key);
    known.set(key, known.get(key) ?? session);
    return ok({ session: known.get(key) ?? session, replayed });
  };
}

const LOST = new Error("the connection was lost");

describe("a branch in a copy", () => {
  /** A response that waits, and one behind the response before it, so that the next branch is a copy. */
  async function busy() {
    const connected = connectBranches({ tenant: { registerSession: registerOnce() } });
    const first = await connected.create("A");
    await connected.create("look a", first);
    const keyed = (key: string) =>
      connected.openai.responses.create(
        { ...asked, input: "again", previous_response_id: first.id },
        { headers: { "Idempotency-Key": key } },
      );
    return { ...connected, first, keyed };
  }

  it.each(["beginFork", "copyIntoFork", "completeFork", "respond"] as const)(
    "is made once for one key, when the first attempt dies at %s",
    async (name) => {
      const { keyed, lives, requests } = await busy();
      const noted = lives.set.bind(lives);
      lives.set = (session, life) => {
        const call = life.service[name];
        const dies = async (): Promise<never> => {
          Object.assign(life.service, { [name]: call });
          throw LOST;
        };
        Object.assign(life.service, { [name]: dies });
        return noted(session, life);
      };

      await expect(keyed("k")).rejects.toMatchObject({ status: 500 });
      const [answer, repeated] = [await keyed("k"), await keyed("k")];

      expect(answer).toMatchObject({ output_text: "(user: again)", status: "completed" });
      expect(repeated.id).toBe(answer.id);
      expect(lives.size).toBe(2);
      expect(requests.filter((request) => newest(request) === "user: again")).toHaveLength(1);
    },
  );

  it("is one copy for one key, however many ask at once, also when the session is free again", async () => {
    const { keyed, lives, create, first } = await busy();
    const answers = await Promise.all([keyed("k"), keyed("k"), keyed("k")]);
    await keyed("other");
    expect(new Set(answers.map(({ id }) => id)).size).toBe(1);
    expect(lives.size).toBe(3);
    expect((await create("D", first)).status).toBe("completed");
  });

  it("is erased when the request is refused after all", async () => {
    const { first, create, lives } = await busy();
    const noted = lives.set.bind(lives);
    lives.set = (session, life) => {
      Object.assign(life.service, { respond: async () => err({ code: "queue_full", limit: 32 }) });
      return noted(session, life);
    };
    await expect(create("B", first)).rejects.toMatchObject({ status: 409 });
    const [, copy] = [...lives.values()];
    expect(copy?.runtime.state.lifecycle).toBe("erased");
  });

  it("outlives its source, is a conversation like any other, and keeps redacted what was", async () => {
    const { openai, lives, create, requests } = connectBranches();
    const first = await create([
      { role: "user", content: "secret" },
      { role: "user", content: "A" },
    ]);
    await create("look a", first);
    const [source = never()] = lives.keys();
    const conversation = `conv_${source.slice("ses_".length)}`;
    const { data } = await openai.conversations.items.list(conversation, { order: "asc" });
    await openai.conversations.items.delete(data[0]?.id ?? "", { conversation_id: conversation });
    const branch = await create("B", first);
    const [, copy = never()] = lives.keys();
    const state = lives.get(copy)?.runtime.state;
    expect(state?.redactions).toBe(1);
    expect(JSON.stringify(requests.at(-1))).not.toContain("secret");

    await openai.conversations.delete(conversation);

    await expect(create("C", first)).rejects.toMatchObject({ status: 400, param: "previous_response_id" });
    expect((await openai.responses.retrieve(branch.id)).output_text).toBe("(user: B)");
    await create("C", branch);
    const items = await openai.conversations.items.list(`conv_${copy.slice("ses_".length)}`, { order: "asc", limit: 100 });
    const said = items.data.flatMap((item) =>
      item.type === "message" ? item.content.map((part) => ("text" in part ? part.text : "")) : [],
    );
    expect(said.slice(-5)).toEqual(["A", "(user: A)", "B", "(user: B)", "C", "(user: C)"].slice(-5));
  });

  it("is made while the source is being compacted, and the compaction goes on", async () => {
    const { create, lives } = connectBranches();
    let last = await create("A");
    const first = last;
    for (let n = 1; n <= 6; n++) last = await create(`question ${n} ${"word ".repeat(60)}`, last);
    const [life = never()] = lives.values();
    life.models = { resolve: async () => ROOMY };
    await life.service.compact({ tenant: TENANT, session: life.runtime.state.session ?? never() }, BY_HAND);
    expect(life.runtime.state.compaction.requested).not.toBeNull();
    await create("look a", last);
    const branch = await create("B", first);

    expect(branch.output_text).toBe("(user: B)");
    expect(lives.size).toBe(2);
    expect(life.runtime.state.compaction.requested).not.toBeNull();
  });
});

/** A response of a random tree, with what the model has read when it is continued. */
interface Node {
  readonly id: string;
  readonly path: readonly string[];
  /** Calls that it ends with. */
  readonly calls: readonly string[];
}

interface Act {
  /** `answer`: only the results of the calls that the response ends with. Without calls it is `say`. */
  readonly kind: "say" | "say and look" | "answer";
  readonly tools: number;
  /** Which response is continued. */
  readonly behind: number;
  /** Sent together with the act before it. */
  readonly together: boolean;
}

const acts = fc.array(
  fc.record<Act>({
    kind: fc.constantFrom("say", "say and look", "answer"),
    tools: fc.integer({ min: 1, max: 3 }),
    behind: fc.nat({ max: 1_000 }),
    together: fc.boolean(),
  }),
  { minLength: 3, maxLength: 14 },
);

/** What is sent behind a response, and what the model then reads. */
function planNext(from: Node, { kind, tools }: Act, n: number) {
  const isAnswer = kind === "answer" && from.calls.length > 0;
  const made = kind === "say and look" ? Array.from({ length: tools }, (_, index) => `call-${n}-${index}`) : [];
  const text = made.length > 0 ? `look ${made.join(" ")}` : `text ${n}`;
  const results = from.calls.map((call, index) => output(call, `result ${n} ${index}`));
  const said = isAnswer ? [] : [text];
  return {
    input: [...results.toReversed(), ...said.map((content) => ({ role: "user" as const, content }))],
    path: [...from.path, ...results.map((result) => `tool: ${result.output}`), ...said.map((content) => `user: ${content}`)],
    calls: made,
  };
}

describe("any tree of responses", () => {
  it("is read by the model along the path of each response, whatever else is under way", async () => {
    await fc.assert(
      fc.asyncProperty(acts, async (all) => {
        const { create, requests } = connectBranches();
        const root = await create("root");
        const nodes: Node[] = [{ id: root.id, path: ["user: root", "assistant: (user: root)"], calls: [] }];
        const play = async (act: Act, n: number): Promise<Node> => {
          const from = nodes[act.behind % nodes.length] ?? never();
          const { input, path, calls: made } = planNext(from, act, n);
          const { id, status } = await create([...input], from);
          expect(status).toBe("completed");
          const last = path.at(-1) ?? "";
          expect(readBefore(requests, last)).toEqual(path);
          const reply = made.length > 0 ? "tool_call".repeat(made.length) : `(${last})`;
          return { id, path: [...path, `assistant: ${reply}`], calls: made };
        };
        for (let n = 0; n < all.length; ) {
          const next = all.findIndex((act, index) => index > n && !act.together);
          const end = next < 0 ? all.length : next;
          const batch = all.slice(n, end);
          const start = n;
          nodes.push(...(await Promise.all(batch.map((act, index) => play(act, start + index)))));
          n = end;
        }
      }),
      { numRuns: drawn(30) },
    );
  }, 60_000);
});
