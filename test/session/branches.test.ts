/** Rewinding a conversation: a new branch continues, the record keeps the old one, and both can be continued. */
import { describe, expect, test } from "vitest";
import type { BranchView } from "../../src/contract/branch";
import { fold } from "../../src/domain/evolve";
import type { ItemId } from "../../src/domain/ids";
import { CALLER, Life, settle } from "./life";
import { ask as askFor, buildRequestText, compact, cutOff, newLife, ROOMY, revert, say, useTools, work } from "./talk";

const keyless = { idempotency: null } as const;

async function rewind(life: Life, to: number): Promise<BranchView> {
  const done = await life.service.rewind(CALLER, { to, ...keyless });
  if (!done.ok) throw new Error(JSON.stringify(done.error));
  await settle();
  return done.value.branch;
}

async function goOnWith(life: Life, branch: number): Promise<void> {
  const done = await life.service.switchBranch(CALLER, { branch, ...keyless });
  if (!done.ok) throw new Error(JSON.stringify(done.error));
  await settle();
}

async function readTexts(life: Life, branch: number | "current" | "all" = "current"): Promise<string[]> {
  const page = await life.service.items(CALLER, { after: null, limit: 200, order: "asc", branch });
  if (!page.ok) throw new Error(page.error.code);
  return page.value.data.map(({ content: [part], role }) => (part?.type === "text" ? part.text : role));
}

async function findId(life: Life, text: string): Promise<ItemId> {
  const page = await life.service.items(CALLER, { after: null, limit: 200, order: "asc", branch: "all" });
  const found = page.ok && page.value.data.find(({ content: [part] }) => part?.type === "text" && part.text === text);
  if (!found) throw new Error(`there is no message ${text}`);
  return found.id;
}

const asked = (life: Life): string[] => life.call.messages;

describe("going back", () => {
  test("goes on from there on a new branch, and the record keeps the one that was left", async () => {
    const life = await newLife();
    await say(life, "one", "reply one");
    await say(life, "two", "reply two");

    const branch = await rewind(life, 2);
    await say(life, "other", "reply other");

    expect(branch).toMatchObject({ number: 2, parent: 1, shared_to: 2, current: true, messages: 2, last_position: 2 });
    expect(asked(life)).toEqual(["user: one", "assistant: reply one", "user: other"]);
    expect(await readTexts(life)).toEqual(["one", "reply one", "other", "reply other"]);
    expect(await readTexts(life, 1)).toEqual(["one", "reply one", "two", "reply two"]);
    expect(await readTexts(life, "all")).toHaveLength(6);
  });

  test("to 0 begins anew", async () => {
    const life = await newLife();
    await say(life, "one", "reply one");

    await rewind(life, 0);
    await say(life, "first", "reply first");

    expect(asked(life)).toEqual(["user: first"]);
    expect(life.runtime.state.messages).toBe(2);
  });

  test("keeps the prefix as it was: the request before is the beginning of the next", async () => {
    const life = await newLife();
    await say(life, "one", "reply one");
    await say(life, "two", "reply two");
    const before = life.calls[1]?.messages ?? [];

    await rewind(life, 2);
    await life.send("other");

    expect(asked(life).slice(0, 2)).toEqual(before.slice(0, 2));
  });

  test.each([
    ["behind the end", 9, /ends at 6/],
    ["between a call and its result", 2, /stays together: 3/],
    ["on another branch", 5, /another branch/],
  ])("%s is refused, and names the field", async (what, to, detail) => {
    const life = await newLife();
    await useTools(life, "look", ["found"]);
    if (what !== "between a call and its result") {
      await say(life, "more", "reply more");
      if (what === "on another branch") await rewind(life, 4);
    }

    const refused = await life.service.rewind(CALLER, { to, ...keyless });

    expect(refused).toMatchObject({ ok: false, error: { code: "invalid", field: "to", detail: expect.stringMatching(detail) } });
  });

  test("while a turn runs is refused; one that waits for tools is superseded", async () => {
    const life = await newLife();
    await say(life, "one", "reply one");
    await life.send("two");
    expect(await life.service.rewind(CALLER, { to: 2, ...keyless })).toMatchObject({ ok: false, error: { code: "turn_running" } });
    life.call.say({ type: "tool_call", call: { type: "tool_call", call_id: "c", name: "look", arguments: "{}" } });
    await life.say({ type: "finish", finish: "tool_calls", usage: null });

    await rewind(life, 2);

    expect(life.runtime.state).toMatchObject({ turn: null, last_turn: { status: "completed" } });
    await say(life, "other", "reply other");
    expect(asked(life)).toEqual(["user: one", "assistant: reply one", "user: other"]);
  });

  test("asked twice with one key makes one branch", async () => {
    const life = await newLife();
    await say(life, "one", "reply one");
    const idempotency = { key: "k", digest: "d" };

    const first = await life.service.rewind(CALLER, { to: 0, idempotency });
    const second = await life.service.rewind(CALLER, { to: 0, idempotency });

    expect(first).toMatchObject({ ok: true, value: { branch: { number: 2 }, replayed: false } });
    expect(second).toMatchObject({ ok: true, value: { branch: { number: 2 }, replayed: true } });
    expect(life.runtime.state.branch.count).toBe(2);
  });
});

describe("the view that a step back finds", () => {
  async function compacted(): Promise<Life> {
    const life = await newLife({ policy: "oneclaw" });
    for (let n = 1; n <= 6; n++) await say(life, `question ${n} ${"word ".repeat(60)}`, `reply ${n} ${"word ".repeat(60)}`);
    await compact(life, 200);
    return life;
  }

  test("keeps the summary where it stands for nothing that is left", async () => {
    const life = await compacted();
    const [overlay] = life.runtime.state.view.overlays;
    const kept = life.runtime.state.view.items.map(({ position }) => position);
    expect(overlay).toMatchObject({ kind: "summary" });
    const to = kept[1] ?? 0;
    expect(to).toBeGreaterThan(overlay?.to ?? 0);

    await rewind(life, to);

    expect(life.runtime.state.view.overlays).toEqual([overlay]);
    expect(life.runtime.state.view.items.map(({ position }) => position)).toEqual(kept.filter((position) => position <= to));
  });

  test("is the one before the summary where the summary stands for what is left", async () => {
    const life = await compacted();

    await rewind(life, 4);
    await life.send("and then?");

    expect(life.runtime.state.view.overlays).toEqual([]);
    expect(asked(life)).toHaveLength(5);
    expect(asked(life)[0]).toContain("question 1");
  });

  test("is the newest overlay that fits, of several", async () => {
    const life = await compacted();
    const [first] = life.runtime.state.view.overlays;
    for (let n = 7; n <= 12; n++) await say(life, `question ${n} ${"word ".repeat(60)}`, `reply ${n} ${"word ".repeat(60)}`);
    await compact(life, 200);
    const to = (first?.to ?? 0) + 2;

    await rewind(life, to);

    expect(life.runtime.state.view.overlays).toEqual([first]);
    expect(life.runtime.state.view.items.at(-1)?.position).toBe(to);
  });

  test("has nothing of a reply that a retry took back", async () => {
    const life = await newLife();
    await cutOff(life, "one", "half a");
    await life.service.retry(CALLER, keyless);
    await settle();
    await life.answer("whole");
    await say(life, "two", "reply two");

    await rewind(life, 3);
    await life.send("other");

    expect(asked(life)).toEqual(["user: one", "assistant: whole", "user: other"]);
  });

  test("a compaction under way is void, and none can be taken back across it", async () => {
    const life = await compacted();
    await rewind(life, 12);

    expect(life.runtime.state.compaction.committed).toEqual([]);
  });
});

test("a reply that was cut off, and is taken back on one branch, stands on the other", async () => {
  const life = await newLife();
  await cutOff(life, "one", "half a");
  await rewind(life, 2);
  await life.service.retry(CALLER, keyless);
  await settle();
  await life.answer("whole");
  expect(asked(life)).toEqual(["user: one"]);

  await goOnWith(life, 1);
  await life.send("two");

  expect(asked(life)).toEqual(["user: one", "assistant: half a", "user: two"]);
});

test("a compaction on that other branch is reverted with the cut-off reply in its place", async () => {
  const life = await newLife();
  await cutOff(life, "one", "half a ".repeat(200));
  await rewind(life, 2);
  await life.service.retry(CALLER, keyless);
  await settle();
  await life.answer("whole");
  await goOnWith(life, 1);
  await say(life, "two", "reply two");
  const before = buildRequestText(life);
  await compact(life, 1);
  expect(buildRequestText(life)).not.toBe(before);

  await revert(life);

  expect(buildRequestText(life)).toBe(before);
});

describe("saying it differently", () => {
  test("goes back to before the message, and is answered, in one step", async () => {
    const life = await newLife();
    await say(life, "one", "reply one");
    await say(life, "two", "reply two");
    const message = await findId(life, "two");

    const accepted = await life.service.editMessage(CALLER, { message, parts: [{ type: "text", text: "zwei" }], tools: null, ...keyless });
    await settle();
    await life.answer("Antwort zwei");

    expect(accepted).toMatchObject({ ok: true, value: { position: 5, queued: false } });
    expect(asked(life)).toEqual(["user: one", "assistant: reply one", "user: zwei"]);
    expect(await readTexts(life)).toEqual(["one", "reply one", "zwei", "Antwort zwei"]);
  });

  test("what is no message of the user, or unknown, is refused", async () => {
    const life = await newLife();
    await say(life, "one", "reply one");
    const edit = (message: ItemId) =>
      life.service.editMessage(CALLER, { message, parts: [{ type: "text", text: "x" }], tools: null, ...keyless });

    expect(await edit(await findId(life, "reply one"))).toMatchObject({ ok: false, error: { code: "invalid", field: "message_id" } });
    expect(await edit("msg_01HZZZZZZZZZZZZZZZZZZZZZZZ" as ItemId)).toMatchObject({ ok: false, error: { code: "message_not_found" } });
    expect(life.runtime.state.branch.count).toBe(1);
  });
});

describe("having it answered again", () => {
  test("goes back to the user's message, and leaves the first answer on its branch", async () => {
    const life = await newLife();
    await say(life, "one", "reply one");

    const again = await life.service.regenerate(CALLER, { message: await findId(life, "reply one"), ...keyless });
    await settle();
    await life.answer("better");

    expect(again).toMatchObject({ ok: true, value: { message_id: await findId(life, "one"), position: 1 } });
    expect(asked(life)).toEqual(["user: one"]);
    expect(await readTexts(life)).toEqual(["one", "better"]);
    expect(await readTexts(life, 1)).toEqual(["one", "reply one"]);
  });

  test("shows the message that is answered, also where a summary stands for it", async () => {
    const life = await newLife({ policy: "oneclaw" });
    for (let n = 1; n <= 6; n++) await say(life, `question ${n} ${"word ".repeat(60)}`, `reply ${n} ${"word ".repeat(60)}`);
    const message = life.runtime.state.view.items.find(({ position }) => position === 7)?.id;
    await askFor(life, { upTo: 7, keepRecent: 256 });
    await work(life);
    expect(life.runtime.state.view.overlays).toMatchObject([{ kind: "summary", to: 7 }]);
    if (!message) throw new Error("there is no question");

    await life.service.regenerate(CALLER, { message, ...keyless });
    await settle();

    expect(asked(life).at(-1)).toContain("user: question 4");
  });

  test("offers the tools that the turn was offered", async () => {
    const life = await newLife();
    const tools = [{ name: "look", parameters: {} }];
    await life.service.submit(CALLER, {
      role: "user",
      parts: [{ type: "text", text: "one" }],
      run: true,
      onBusy: "queue",
      tools,
      idempotency: null,
    });
    await settle();
    await life.answer("reply one");

    await life.service.regenerate(CALLER, { message: await findId(life, "one"), ...keyless });
    await settle();

    expect(life.call.request.tools.map(({ name }) => name)).toEqual(["look"]);
  });

  test("shows the question again that a summary stood for", async () => {
    const life = await newLife({ policy: "oneclaw" });
    for (let n = 1; n <= 4; n++) await say(life, `question ${n} ${"word ".repeat(60)}`, `reply ${n} ${"word ".repeat(60)}`);
    const question = `the last question ${"word ".repeat(300).trim()}`;
    await say(life, question, `the last reply ${"word ".repeat(60)}`);
    await compact(life, 40);
    expect(life.runtime.state.view.overlays.at(-1)?.to).toBe(9);
    expect(life.runtime.state.view.items).toHaveLength(1);

    await life.service.regenerate(CALLER, { message: await findId(life, question), ...keyless });
    await settle();

    expect(asked(life).at(-1)).toBe(`user: ${question}`);
  });
});

describe("a question that has left the view", () => {
  test("is in the request that answers it again, although the summary ends with it", async () => {
    const life = await newLife();
    for (let n = 1; n <= 4; n++) await say(life, `question ${n} ${"word ".repeat(60)}`, `reply ${n} ${"word ".repeat(60)}`);
    await askFor(life, { upTo: 5, keepRecent: 1 });
    await work(life);
    expect(life.runtime.state.view.overlays).toMatchObject([{ to: 5 }]);
    const message = await findId(life, `question 3 ${"word ".repeat(60)}`);

    await life.service.regenerate(CALLER, { message, ...keyless });
    await settle();

    expect(asked(life).at(-1)).toMatch(/^user: question 3/);
  });
});

describe("a turn that waits for tools", () => {
  const waiting = async (): Promise<Life> => {
    const life = await newLife();
    const tools = [{ name: "look", parameters: {} }];
    const said = { role: "user", parts: [{ type: "text", text: "one" }], run: true, onBusy: "queue", tools, idempotency: null } as const;
    await life.service.submit(CALLER, said);
    await settle();
    life.call.say({ type: "tool_call", call: { type: "tool_call", call_id: "c", name: "look", arguments: "{}" } });
    await life.say({ type: "finish", finish: "tool_calls", usage: null });
    return life;
  };

  test("is offered the same tools when it is answered again, and its calls take no results any more", async () => {
    const life = await waiting();

    await life.service.regenerate(CALLER, { message: await findId(life, "one"), ...keyless });
    await settle();

    expect(life.call.request.tools.map(({ name }) => name)).toEqual(["look"]);
    const results = [{ execution_id: null, call_id: "c", output: "late", is_error: false }];
    expect(await life.service.toolResults(CALLER, { results, idempotency: null })).toMatchObject({ error: { code: "call_not_open" } });
    await life.answer("better");
    expect(await readTexts(life)).toEqual(["one", "better"]);
  });

  test("is the last one where the conversation goes back into it, and can be retried", async () => {
    const life = await waiting();

    await rewind(life, 2);

    expect(life.runtime.state.last_turn).toMatchObject({ status: "stopped", stop_reason: "superseded" });
    expect(await life.service.retry(CALLER, keyless)).toMatchObject({ ok: true });
    expect(life.runtime.state).toEqual(fold(life.events()));
  });
});

describe("going on with a branch that was left", () => {
  test("finds the view that it was left with, and gets what is said now", async () => {
    const life = await newLife();
    await say(life, "one", "reply one");
    await say(life, "two", "reply two");
    const before = life.runtime.state.view.items;
    await rewind(life, 2);
    await say(life, "other", "reply other");

    await goOnWith(life, 1);

    expect(life.runtime.state.view.items).toEqual(before);
    await say(life, "three", "reply three");
    expect(asked(life)).toEqual(["user: one", "assistant: reply one", "user: two", "assistant: reply two", "user: three"]);
    expect(await readTexts(life, 2)).toEqual(["one", "reply one", "other", "reply other"]);
    expect(life.runtime.state.messages).toBe(6);
  });

  test("with summaries of its own on either side", async () => {
    const life = await newLife({ policy: "oneclaw" });
    for (let n = 1; n <= 5; n++) await say(life, `question ${n} ${"word ".repeat(60)}`, `reply ${n} ${"word ".repeat(60)}`);
    await rewind(life, 6);
    for (let n = 6; n <= 9; n++) await say(life, `elsewhere ${n} ${"word ".repeat(60)}`, `reply ${n} ${"word ".repeat(60)}`);
    await compact(life, 200);
    const there = buildRequestText(life);

    await goOnWith(life, 1);
    expect(life.runtime.state.view.overlays).toEqual([]);
    await goOnWith(life, 2);

    expect(buildRequestText(life)).toBe(there);
    expect(there).not.toContain("question 4");
  });

  test("an unknown one is refused; the present one is no change", async () => {
    const life = await newLife();
    const { seq } = life.runtime.state;

    expect(await life.service.switchBranch(CALLER, { branch: 7, ...keyless })).toMatchObject({
      ok: false,
      error: { code: "branch_not_found" },
    });
    expect(await life.service.switchBranch(CALLER, { branch: 1, ...keyless })).toMatchObject({
      ok: true,
      value: { branch: { number: 1 } },
    });
    expect(life.runtime.state.seq).toBe(seq);
  });

  test("two side by side: where they part, and what follows on each", async () => {
    const life = await newLife();
    await say(life, "one", "reply one");
    await say(life, "two", "reply two");
    await rewind(life, 2);
    await say(life, "other", "reply other");

    const compared = await life.service.compareBranches(CALLER, { a: 1, b: 2, limit: 1 });

    expect(compared).toMatchObject({ ok: true, value: { shared_to: 2, shared_messages: 2, a: { has_more: true }, b: { has_more: true } } });
    const texts = compared.ok && [compared.value.a, compared.value.b].map(({ items: [item] }) => item?.content[0]);
    expect(texts).toEqual([
      { type: "text", text: "two" },
      { type: "text", text: "other" },
    ]);
  });
});

test("a look-up finds nothing of another branch, and again what it is when its branch goes on", async () => {
  const life = await newLife();
  await say(life, "the secret is zanzibar", "noted");
  await rewind(life, 0);
  await say(life, "hello", "hi");
  const find = async () => {
    const found = await life.service.recall(CALLER, { query: "zanzibar", execution: null, from: null, to: null, offset: 0, limit: 10 });
    return found.ok ? found.value.data.length : -1;
  };

  expect(await find()).toBe(0);
  await goOnWith(life, 1);
  expect(await find()).toBe(1);
});

test("the state after it all is the fold of the log, in another life too", async () => {
  const life = await newLife();
  await say(life, "one", "reply one");
  await rewind(life, 0);
  await say(life, "two", "reply two");
  await goOnWith(life, 1);

  const after = new Life(life.sql, "life-2");
  after.models = { resolve: async () => ROOMY };

  expect(after.runtime.state).toEqual(fold(life.events()));
  expect(await readTexts(after)).toEqual(["one", "reply one"]);
});
