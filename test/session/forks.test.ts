/** A fork: a session that begins with a copy of another one's messages and of the summaries of its oldest ones. */
import { describe, expect, test } from "vitest";
import { copySession } from "../../src/app/branch/copy-session";
import { NO_RETENTION } from "../../src/app/retention";
import { fold } from "../../src/domain/evolve";
import type { SessionId } from "../../src/domain/ids";
import { readItems } from "../../src/session/log/log-tables";
import { countingIds, id, SESSION, TENANT } from "../support/builders";
import { everything, findId } from "./contents";
import { CALLER, Life, settle } from "./life";
import { buildRequestText, compact, cutOff, ask as draft, newLife, ROOMY, SUMMARY, say, trim, useTools, work } from "./talk";

const FORK = id("ses", 77);
const FORK_CALLER = { tenant: TENANT, session: FORK } as const;

interface Copied {
  readonly life: Life;
  readonly outcome: Awaited<ReturnType<typeof copySession>>;
}

async function fork(source: Life, at: number | null, into = new Life(undefined, "fork-1", countingIds())): Promise<Copied> {
  into.models = { resolve: async () => ROOMY };
  const outcome = await copySession({
    hold: async () => true,
    source: (work) => work(source.service, CALLER),
    target: (work) => work(into.service, FORK_CALLER),
    from: SESSION,
    to: FORK,
    at,
    title: null,
  });
  await settle();
  return { life: into, outcome };
}

async function readTexts(life: Life, caller: { readonly tenant: typeof TENANT; readonly session: SessionId }): Promise<string[]> {
  const page = await life.service.items(caller, { after: null, limit: 200, order: "asc" });
  if (!page.ok) throw new Error(page.error.code);
  return page.value.data.map(({ content: [part], role }) => (part?.type === "text" ? part.text : role));
}

const ask = async (life: Life, text: string): Promise<void> => {
  const said = { role: "user", parts: [{ type: "text", text }], run: true, onBusy: "queue", tools: null, idempotency: null } as const;
  await life.service.submit(FORK_CALLER, said);
  await settle();
};

describe("a fork", () => {
  test("has the view of its source, and later messages of one do not reach the other", async () => {
    const source = await newLife({ system: "Be brief." });
    await say(source, "one", "reply one");
    await say(source, "two", "reply two");

    const { life, outcome } = await fork(source, null);
    await ask(life, "in the fork");
    await life.answer("reply fork");
    await say(source, "in the source", "reply source");

    expect(outcome).toMatchObject({
      ok: true,
      value: { id: FORK, forked_from: { session_id: SESSION, at: 4 }, message_count: 4, system: "Be brief." },
    });
    expect(life.call.messages).toEqual(["user: one", "assistant: reply one", "user: two", "assistant: reply two", "user: in the fork"]);
    expect(await readTexts(life, FORK_CALLER)).toEqual(["one", "reply one", "two", "reply two", "in the fork", "reply fork"]);
    expect(await readTexts(source, CALLER)).toEqual(["one", "reply one", "two", "reply two", "in the source", "reply source"]);
  });

  test("at a position of a branch that was left has that branch's past, while another branch goes on", async () => {
    const source = await newLife({ policy: "oneclaw" });
    await say(source, "one", "reply one");
    for (let n = 1; n <= 6; n++) await say(source, `left ${n} ${"word ".repeat(60)}`, `reply ${n} ${"word ".repeat(60)}`);
    await compact(source, 200);
    const left = buildRequestText(source);
    await source.service.rewind(CALLER, { to: 2, idempotency: null });
    await source.send("other");

    const { life, outcome } = await fork(source, 14);

    expect(outcome).toMatchObject({ ok: true, value: { message_count: 14, forked_from: { at: 14 } } });
    expect(buildRequestText(life).replaceAll(FORK, SESSION)).toBe(left);
    expect(life.runtime.state).toEqual(fold(life.events()));
    await source.answer("reply other");
    expect(await readTexts(source, CALLER)).toEqual(["one", "reply one", "other", "reply other"]);
  });

  test("at an earlier position has no later messages", async () => {
    const source = await newLife();
    await say(source, "one", "reply one");
    await say(source, "two", "reply two");

    const { life } = await fork(source, 2);

    expect(await readTexts(life, FORK_CALLER)).toEqual(["one", "reply one"]);
  });

  test("keeps calls with their results, under ids of its own", async () => {
    const source = await newLife();
    await useTools(source, "look", ["found", "found, too"]);

    const { life } = await fork(source, null);
    const ids = (of: Life) =>
      of.runtime.state.view.items.flatMap(({ id: item, tool }) => [item as string, tool?.execution ?? ""]).filter(Boolean);
    const shared = new Set(ids(source));
    expect(ids(life).filter((each) => shared.has(each))).toEqual([]);
    await ask(life, "and?");

    const kinds = life.call.request.messages.map(({ role, parts }) => `${role} ${parts.map(({ type }) => type).join("+")}`);
    expect(kinds).toEqual([
      "user text",
      "assistant tool_call+tool_call",
      "tool tool_result",
      "tool tool_result",
      "assistant text",
      "user text",
    ]);
  });

  test("brings the summaries that stand, and what they stand for enters its record alone", async () => {
    const source = await newLife({ policy: "oneclaw" });
    for (let n = 1; n <= 6; n++) await say(source, `question ${n} ${"word ".repeat(60)}`, `reply ${n} ${"word ".repeat(60)}`);
    await compact(source, 200);

    const { life } = await fork(source, null);

    expect(buildRequestText(life).replaceAll(FORK, SESSION)).toBe(buildRequestText(source));
    expect(await readTexts(life, FORK_CALLER)).toHaveLength(12);
    expect(life.runtime.state.view.items.length).toBeLessThan(12);
    expect(life.runtime.state).toEqual(fold(life.events()));
  });

  test("in which a message is redacted loses the summaries that came with it and had read that", async () => {
    const source = await newLife({ policy: "oneclaw" });
    for (let n = 1; n <= 6; n++) await say(source, `question ${n} ${"word ".repeat(60)}`, `reply ${n} ${"word ".repeat(60)}`);
    await compact(source, 200);
    const { life } = await fork(source, null);
    const [brought] = life.runtime.state.view.overlays;
    const page = await life.service.items(FORK_CALLER, { after: null, limit: 1, order: "asc" });
    const [first] = page.ok ? page.value.data : [];
    if (!brought || !first) throw new Error("nothing was copied");
    expect(life.sql.all("SELECT id FROM bodies WHERE id = ?", brought.id)).toHaveLength(1);

    const redacted = await life.service.redact(FORK_CALLER, first.id);
    await settle();

    expect(redacted).toMatchObject({ ok: true, value: { position: 1 } });
    expect(life.sql.all("SELECT id FROM bodies WHERE id = ?", brought.id)).toEqual([]);
  });

  test("has nothing of a draft that waits in its source", async () => {
    const source = await newLife({ policy: "oneclaw" });
    for (let n = 1; n <= 6; n++) await say(source, `question ${n} ${"word ".repeat(60)}`, `reply ${n} ${"word ".repeat(60)}`);
    await draft(source, { keepRecent: 200, draft: true });
    await work(source, "A draft of what was said.");
    expect(source.runtime.state.compaction.draft).not.toBeNull();

    const { life } = await fork(source, null);

    expect(life.runtime.state.compaction).toMatchObject({ requested: null, lease: null, draft: null });
    expect(await life.service.compactions(FORK_CALLER, { after: null, limit: 10, order: "asc" })).toMatchObject({ value: { data: [] } });
    expect(source.runtime.state.compaction.draft).not.toBeNull();
  });

  test("of a branch counts its own positions, without gaps", async () => {
    const source = await newLife({ policy: "oneclaw" });
    await say(source, "one", "reply one");
    await say(source, "two", "reply two");
    await source.service.rewind(CALLER, { to: 2, idempotency: null });
    for (let n = 3; n <= 8; n++) await say(source, `question ${n} ${"word ".repeat(60)}`, `reply ${n} ${"word ".repeat(60)}`);
    await compact(source, 200);

    const { life } = await fork(source, null);

    expect(life.runtime.state.next_position).toBe(15);
    expect(buildRequestText(life).replaceAll(FORK, SESSION)).toBe(buildRequestText(source));
    const [overlay] = life.runtime.state.view.overlays;
    expect(overlay?.to).toBe((life.runtime.state.view.items[0]?.position ?? 0) - 1);
  });

  test("of a branch whose last reply was cut off leaves out what its source trimmed", async () => {
    const source = await newLife({ policy: "oneclaw" });
    await cutOff(source, "one", "half a");
    trim(source);
    await source.service.rewind(CALLER, { to: 1, idempotency: null });
    await source.service.switchBranch(CALLER, { branch: 1, idempotency: null });
    await settle();

    const { life } = await fork(source, null);

    expect(life.runtime.state.view.overlays).toMatchObject([{ from: 1, to: 1 }]);
    expect(buildRequestText(life)).not.toContain('"one');
  });

  test("has nothing that a retry removed", async () => {
    const source = await newLife();
    await cutOff(source, "one", "half a");
    await source.service.retry(CALLER, { idempotency: null });
    await settle();
    await source.answer("whole");

    const { life } = await fork(source, null);

    expect(await readTexts(life, FORK_CALLER)).toEqual(["one", "whole"]);
  });

  test("keeps a cut-off reply that a retry took back on another branch only", async () => {
    const source = await newLife();
    await cutOff(source, "one", "half a");
    await source.service.rewind(CALLER, { to: 2, idempotency: null });
    await source.service.retry(CALLER, { idempotency: null });
    await settle();
    await source.answer("whole");
    await source.service.switchBranch(CALLER, { branch: 1, idempotency: null });
    await say(source, "two", "reply two");

    const { life } = await fork(source, null);

    expect(await readTexts(life, FORK_CALLER)).toEqual(["one", "half a", "two", "reply two"]);
  });

  test("while a turn runs shares what came before it", async () => {
    const source = await newLife();
    await say(source, "one", "reply one");
    await source.send("two");

    const { life, outcome } = await fork(source, null);

    expect(outcome).toMatchObject({ ok: true, value: { forked_from: { at: 2 } } });
    expect(await readTexts(life, FORK_CALLER)).toEqual(["one", "reply one"]);
  });

  test("while a turn runs whose beginning has left the view shares what came before it", async () => {
    const source = await newLife();
    await say(source, "one", "reply one");
    await source.send("two");
    for (let n = 1; n <= 2; n++) {
      source.call.say({ type: "tool_call", call: { type: "tool_call", call_id: `c${n}`, name: "look", arguments: "{}" } });
      await source.say({ type: "finish", finish: "tool_calls", usage: null });
      const results = [{ execution_id: null, call_id: `c${n}`, output: "found", is_error: false }];
      await source.service.toolResults(CALLER, { results, idempotency: null });
      await settle();
    }
    trim(source);
    trim(source);
    trim(source);
    expect(source.runtime.state.view.items[0]?.position).toBeGreaterThan(3);

    const { outcome } = await fork(source, null);

    expect(outcome).toMatchObject({ ok: true, value: { forked_from: { at: 2 } } });
  });

  test("of a fork, with messages that wait in its source's queue, is the same copy again", async () => {
    const source = await newLife({ policy: "oneclaw" });
    for (let n = 1; n <= 6; n++) await say(source, `question ${n} ${"word ".repeat(60)}`, `reply ${n} ${"word ".repeat(60)}`);
    await compact(source, 200);
    const { life: first } = await fork(source, null);
    const second = new Life(undefined, "fork-2", countingIds());
    second.models = { resolve: async () => ROOMY };
    const AGAIN = { tenant: TENANT, session: id("ses", 78) } as const;
    await ask(first, "running");
    await ask(first, "waiting");

    const outcome = await copySession({
      hold: async () => true,
      source: (work) => work(first.service, FORK_CALLER),
      target: (work) => work(second.service, AGAIN),
      from: FORK,
      to: AGAIN.session,
      at: null,
      title: null,
    });

    expect(outcome).toMatchObject({ ok: true, value: { forked_from: { session_id: FORK, at: 12 }, queued: [] } });
    expect(buildRequestText(second).replaceAll(AGAIN.session, SESSION)).toBe(buildRequestText(source));
  });

  test("of a session in which nothing was said is one in which nothing was said", async () => {
    const source = await newLife({ system: "Be brief." });

    const { life, outcome } = await fork(source, 0);
    await ask(life, "first");

    expect(outcome).toMatchObject({ ok: true, value: { forked_from: { at: 0 }, message_count: 0 } });
    expect(life.call.messages).toEqual(["user: first"]);
  });

  test("has only the place of redacted content", async () => {
    const source = await newLife();
    await say(source, "hunter2", "reply one");
    const item = source.runtime.state.view.items[0]?.id;
    if (!item) throw new Error("nothing was said");
    await source.service.redact(CALLER, item);

    const { life } = await fork(source, null);

    expect(buildRequestText(life).replaceAll(FORK, SESSION)).toBe(buildRequestText(source));
    expect(await readTexts(life, FORK_CALLER)).toEqual(["[redacted]", "reply one"]);
  });

  test.each([[9], [1]])("at %i, where no cut can be, is refused and nothing is made", async (at) => {
    const source = await newLife();
    await useTools(source, "look", ["found"]);
    const into = new Life(undefined, "fork-1");

    const { outcome } = await fork(source, at === 1 ? 2 : at, into);

    expect(outcome).toMatchObject({ ok: false, error: { code: "invalid", field: "at" } });
    expect(into.runtime.state.lifecycle).toBe("new");
  });
});

/** A fork whose first request was lost before its first page. */
async function beginOnly(source: Life): Promise<Life> {
  const life = new Life(undefined, "fork-1", countingIds());
  life.models = { resolve: async () => ROOMY };
  const head = await source.service.forkHead(CALLER, null);
  if (!head.ok) throw new Error(head.error.code);
  await life.service.beginFork(FORK_CALLER, { from: SESSION, head: head.value });
  return life;
}

describe("a pin of a message in a fork", () => {
  const readPins = async (life: Life) => {
    const shown = await life.service.pins(FORK_CALLER);
    if (!shown.ok) throw new Error(shown.error.code);
    return shown.value.pins;
  };

  test("names the copied message by the copy's own number and id, and goes with its redaction", async () => {
    const source = await newLife();
    await say(source, "a wrong turn", "reply");
    await source.service.rewind(CALLER, { to: 0, idempotency: null });
    await useTools(source, "My dog is called Rex.", ["found it"]);
    await source.service.setPins(CALLER, ["Be brief.", { position: 4 }, { position: 3 }]);

    const { life } = await fork(source, null);

    const pins = await readPins(life);
    const [, call, said] = pins;
    expect(pins.map(({ text, position }) => [text, position])).toEqual([
      ["Be brief.", null],
      ["Message 2, call of look_up: {}\nMessage 3, result of look_up: found it", 2],
      ["Message 1, user: My dog is called Rex.", 1],
    ]);
    if (!call?.message_id || !said?.message_id) throw new Error("a pin names no message");
    await life.service.redact(FORK_CALLER, said.message_id);
    expect((await readPins(life)).map(({ text }) => text)).toEqual(["Be brief.", call.text]);
    expect(life.runtime.state).toEqual(fold(life.events()));
  });

  test("is a text of its own where the message is not copied", async () => {
    const source = await newLife();
    await say(source, "one", "reply one");
    await say(source, "two", "reply two");
    await source.service.setPins(CALLER, [{ position: 3 }]);

    const { life } = await fork(source, 2);

    expect(await readPins(life)).toEqual([{ text: "Message 3, user: two", message_id: null, position: null }]);
  });
});

describe("a copy under way", () => {
  const SECRET = "4111-SECRET";

  /** A summary, a pin and a title were made from the first message. */
  async function told(): Promise<Life> {
    const source = await newLife();
    await say(source, `My card is ${SECRET}`, "noted");
    for (let n = 0; n < 4; n++) await say(source, `question ${n}`, `reply ${n} ${"word ".repeat(50)}`);
    await source.service.setPins(CALLER, [{ position: 1 }, "Rex is a dog."]);
    await draft(source, { keepRecent: 60 });
    await work(source, SUMMARY.replace("none", `the card is ${SECRET}`));
    return source;
  }

  /** Redacts in the source before its call number `before`. */
  async function forkWhile(source: Life, when: { before: number; breaks?: boolean; title?: string | null }): Promise<Copied> {
    const { before, breaks = false, title = null } = when;
    const into = new Life(undefined, "fork-1", countingIds());
    into.models = { resolve: async () => ROOMY };
    const message = await findId(source, SECRET);
    let [calls, pages] = [0, 0];
    const attempt = () =>
      copySession({
        hold: async () => true,
        source: async (work) => {
          if (++calls === before) await source.service.redact(CALLER, message);
          return work(source.service, CALLER);
        },
        target: async (work) => {
          const done = await work(into.service, FORK_CALLER);
          if (breaks && into.runtime.state.next_position > 1 && ++pages === 1) throw new Error("the request was cut off");
          return done;
        },
        from: SESSION,
        to: FORK,
        at: null,
        title,
      });
    const outcome = await attempt().catch(attempt);
    await settle();
    return { life: into, outcome };
  }

  test.each([
    ["before its first page", { before: 2 }],
    ["between its pages", { before: 3 }],
    ["between two attempts", { before: 3, breaks: true }],
  ])("takes part in a redaction %s: nothing that was made from the message is left", async (_, when) => {
    const source = await told();

    const { life, outcome } = await forkWhile(source, when);

    expect(outcome).toMatchObject({ ok: true, value: { pins: [{ text: "Rex is a dog." }], compacted_summary: null } });
    expect(everything(life)).not.toContain(SECRET);
    expect(buildRequestText(life).replaceAll(FORK, SESSION)).toBe(buildRequestText(source));
    expect(await readTexts(life, FORK_CALLER)).toEqual(await readTexts(source, CALLER));
    expect(life.runtime.state).toEqual(fold(life.events()));
  });

  test("loses a summary of a look-up that quotes the message, though a rule has removed the answer of the look-up", async () => {
    const source = await newLife({ policy: '{"preset":"oneclaw","summary":{"chain_ratio":0.2,"mode":"transcript"}}' });
    await say(source, `My card is ${SECRET}`, "noted");
    for (let n = 0; n < 4; n++) await say(source, `question ${n}`, `reply ${n} ${"word ".repeat(200)}`);
    await draft(source, { keepRecent: 400 });
    await work(source);
    await source.send("Which card?");
    const look = { type: "tool_call", call_id: "look", name: "memory_query", arguments: '{"query":"card"}' } as const;
    await source.say({ type: "tool_call", call: look }, { type: "finish", finish: "tool_calls", usage: null });
    await source.advance(1);
    await source.answer("That one.");
    for (let n = 4; n < 8; n++) await say(source, `question ${n}`, `reply ${n} ${"word ".repeat(200)}`);
    await draft(source, { keepRecent: 400 });
    await work(source, SUMMARY.replace("none", `the card is ${SECRET}`));
    expect(source.runtime.state.view.overlays).toMatchObject([{ kind: "summary" }, { kind: "summary" }]);
    source.time.advance(30 * 86_400_000);
    const setting = { ...NO_RETENTION, remove_tool_results_after_days: 30 };
    expect(await source.service.retain(CALLER, { setting, isDryRun: false })).toMatchObject({ value: { due: [{ results: 1 }] } });

    const { life } = await forkWhile(source, { before: 2 });

    expect(everything(life)).not.toContain(SECRET);
    expect(buildRequestText(life).replaceAll(FORK, SESSION)).toBe(buildRequestText(source));
  });

  test("keeps a summary that was made after a redaction", async () => {
    const source = await told();
    await source.service.redact(CALLER, await findId(source, SECRET));
    await say(source, "and more", `reply ${"word ".repeat(50)}`);
    await draft(source, { keepRecent: 20 });
    await work(source, SUMMARY);

    const { life } = await fork(source, null);

    expect(life.runtime.state.view.overlays).toMatchObject([{ kind: "summary", from: 1 }]);
    expect(buildRequestText(life).replaceAll(FORK, SESSION)).toBe(buildRequestText(source));
  });

  test.each([null, "My own"])("loses the title that a model made from the message, and keeps one that it was given: %s", async (title) => {
    const source = await newLife({ policy: `{"preset":"oneclaw","title_model":"${ROOMY.id}"}` });
    await say(source, `My card is ${SECRET}`, "noted");
    await source.answer(`The card ${SECRET}`);
    expect(source.runtime.content.readRefText(source.runtime.state.settings.title)).toContain(SECRET);

    const { life, outcome } = await forkWhile(source, { before: 2, title });

    expect(outcome).toMatchObject({ ok: true, value: { title } });
    expect(everything(life)).not.toContain(SECRET);
  });

  test("loses the title that a model made from a message of a branch that was left", async () => {
    const source = await newLife({ policy: `{"preset":"oneclaw","title_model":"${ROOMY.id}"}` });
    await say(source, `My card is ${SECRET}`, "noted");
    await source.answer(`The card ${SECRET}`);
    await source.service.rewind(CALLER, { to: 0, idempotency: null });
    await say(source, "Something else", "gladly");

    const { life, outcome } = await forkWhile(source, { before: 2 });

    expect(outcome).toMatchObject({ ok: true, value: { title: null, message_count: 2 } });
    expect(everything(life)).not.toContain(SECRET);
  });

  test.each([null, "My own"])("and so do a whole copy, and a copy of that one, when they redact it themselves: %s", async (title) => {
    const source = await newLife({ policy: `{"preset":"oneclaw","title_model":"${ROOMY.id}"}` });
    await say(source, `My card is ${SECRET}`, "noted");
    await source.answer(`The card ${SECRET}`);
    await say(source, "and more", "of that");
    const { life: first } = await forkWhile(source, { before: 0, title });
    const second = new Life(undefined, "fork-2", countingIds());
    const to = { tenant: TENANT, session: id("ses", 78) } as const;
    await copySession({
      hold: async () => true,
      source: (work) => work(first.service, FORK_CALLER),
      target: (work) => work(second.service, to),
      from: FORK,
      to: to.session,
      at: 2,
      title: null,
    });
    const redactAt = async (life: Life, caller: typeof to | typeof FORK_CALLER, position: number): Promise<unknown> => {
      const [item] = readItems(life.sql, { from: position, to: position, limit: 1, order: "asc" });
      if (!item) throw new Error(`there is no item at ${position}`);
      await life.service.redact(caller, item.id);
      const shown = await life.service.describe(caller);
      return shown.ok ? shown.value.title : shown.error;
    };

    expect(await redactAt(first, FORK_CALLER, 3)).toBe(title ?? `The card ${SECRET}`);
    expect(await redactAt(first, FORK_CALLER, 1)).toBe(title);
    expect(await redactAt(second, to, 1)).toBe(title);
  });
});

describe("a copy that was broken off", () => {
  test("says nothing until it is whole, and goes on where it came to", async () => {
    const source = await newLife();
    for (let n = 1; n <= 300; n++)
      await source.service.submit(CALLER, {
        role: "user",
        parts: [{ type: "text", text: `line ${n}` }],
        run: false,
        onBusy: "queue",
        tools: null,
        idempotency: null,
      });
    await settle();
    const into = new Life(undefined, "fork-1");
    into.models = { resolve: async () => ROOMY };
    const head = await source.service.forkHead(CALLER, null);
    if (!head.ok) throw new Error(head.error.code);
    await into.service.beginFork(FORK_CALLER, { from: SESSION, head: head.value });
    const said = await into.service.submit(FORK_CALLER, {
      role: "user",
      parts: [{ type: "text", text: "now" }],
      run: true,
      onBusy: "queue",
      tools: null,
      idempotency: null,
    });
    expect(said).toMatchObject({ ok: false, error: { code: "fork_unfinished" } });

    const { outcome } = await fork(source, null, into);
    const again = await fork(source, null, into);

    expect(outcome).toMatchObject({ ok: true, value: { message_count: 300 } });
    expect(again.outcome).toMatchObject({ ok: true, value: { message_count: 300 } });
    expect(into.runtime.state.next_position).toBe(301);
  });

  test("goes on with what it began with, though its source has grown, been compacted and gone back since", async () => {
    const source = await newLife({ policy: "oneclaw" });
    for (let n = 1; n <= 6; n++) await say(source, `question ${n} ${"word ".repeat(60)}`, `reply ${n} ${"word ".repeat(60)}`);
    const whole = await fork(source, null);
    const into = await beginOnly(source);
    await compact(source, 200);
    await say(source, "more", "reply more");
    await source.service.rewind(CALLER, { to: 4, idempotency: null });

    const { outcome } = await fork(source, null, into);

    expect(outcome).toMatchObject({ ok: true, value: { message_count: 12, forked_from: { at: 12 } } });
    expect(buildRequestText(into)).toBe(buildRequestText(whole.life));
    expect(into.runtime.state).toEqual(fold(into.events()));
  });

  test("that is whole is found again, whatever became of its source", async () => {
    const source = await newLife();
    await say(source, "one", "reply one");
    const { life } = await fork(source, null);
    await say(source, "two", "reply two");

    const grown = await fork(source, null, life);
    await source.service.erase(CALLER);
    const erased = await fork(source, null, life);

    for (const { outcome } of [grown, erased]) expect(outcome).toMatchObject({ ok: true, value: { id: FORK, message_count: 2 } });
  });

  test("is not asked for at another place", async () => {
    const source = await newLife();
    await say(source, "one", "reply one");
    await say(source, "two", "reply two");
    const { life } = await fork(source, 2);

    const { outcome } = await fork(source, 4, life);

    expect(outcome).toMatchObject({ ok: false, error: { code: "session_exists" } });
  });

  test("takes a page that is sent twice, for the answer was lost, as the same page", async () => {
    const source = await newLife();
    await say(source, "one", "reply one");
    const into = new Life(undefined, "fork-1");
    into.models = { resolve: async () => ROOMY };

    const outcome = await copySession({
      hold: async () => true,
      source: (work) => work(source.service, CALLER),
      // Repeats a call whose response never arrived.
      target: async (work) => {
        await work(into.service, FORK_CALLER);
        return work(into.service, FORK_CALLER);
      },
      from: SESSION,
      to: FORK,
      at: null,
      title: null,
    });

    expect(outcome).toMatchObject({ ok: true, value: { message_count: 2 } });
    expect(await readTexts(into, FORK_CALLER)).toEqual(["one", "reply one"]);
  });

  test("is not taken for the copy of another session", async () => {
    const source = await newLife();
    await say(source, "one", "reply one");
    const { life } = await fork(source, null);
    const head = await source.service.forkHead(CALLER, null);
    if (!head.ok) throw new Error(head.error.code);

    const other = await life.service.beginFork(FORK_CALLER, { from: id("ses", 5), head: head.value });

    expect(other).toMatchObject({ ok: false, error: { code: "session_exists" } });
  });
});
