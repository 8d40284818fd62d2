/** Redacted content is removed from the record, the view, summaries, look-ups and the live stream. */
import { describe, expect, test } from "vitest";
import { fold } from "../../src/domain/evolve";
import type { ItemId } from "../../src/domain/ids";
import { toWeighedView } from "../../src/domain/view";
import { id } from "../support/builders";
import { everything, findId } from "./contents";
import { CALLER, Life, settle } from "./life";
import { ask, buildRequestText, compact, newest, newLife, revert, SUMMARY, say, useTools, work } from "./talk";

const SECRET = "hunter2";

async function redact(life: Life, text = SECRET): Promise<void> {
  const done = await life.service.redact(CALLER, await findId(life, text));
  if (!done.ok) throw new Error(done.error.code);
  await settle();
}

/** The types of the stored frames after an offset, as a client that resumes there receives them. */
async function hear(life: Life, after: number): Promise<string[]> {
  const opened = await life.service.stream(CALLER, { after, turn: null });
  if (!opened.ok) throw new Error(opened.error.code);
  const reader = opened.value.getReader();
  let text = "";
  const listen = (async () => {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      text += new TextDecoder().decode(value);
    }
  })();
  await settle();
  await reader.cancel();
  await listen;
  return [...text.matchAll(/^event: (.+)$/gm)].map(([, type]) => type ?? "");
}

/** Every byte of the index's own tables. */
const terms = (life: Life): string =>
  ["data", "idx", "docsize"]
    .flatMap((table) => life.sql.all<Record<string, never>>(`SELECT * FROM recall_${table}`).flatMap((row) => Object.values<unknown>(row)))
    .map((value) => (value instanceof Uint8Array ? Buffer.from(value).toString("latin1") : String(value)))
    .join("\n");

const find = async (life: Life): Promise<number> => {
  const found = await life.service.recall(CALLER, { query: SECRET, execution: null, from: null, to: null, offset: 0, limit: 10 });
  return found.ok ? found.value.data.length : -1;
};

describe("a redacted message", () => {
  test("is nowhere in the object any more, and its place is kept", async () => {
    const life = await newLife();
    await say(life, `my password is ${SECRET}`, "noted");
    expect(await find(life)).toBe(1);

    await redact(life);

    expect(everything(life)).not.toContain(SECRET);
    expect(await find(life)).toBe(0);
    await life.send("what was it?");
    expect(life.call.messages).toEqual(["user: [redacted]", "assistant: noted", "user: what was it?"]);
    expect(life.runtime.state).toEqual(fold(life.events()));
  });

  test("has the tokens of its placeholder, also in the next life and for a ratio that is learned later", async () => {
    const life = await newLife();
    await say(life, `my password is ${SECRET}. ${"seats nothing agreed ".repeat(900)}`, "noted");
    const before = life.runtime.state.view.tokens;

    await redact(life);

    const { view } = life.runtime.state;
    expect(before).toBeGreaterThan(2_500);
    expect(view.tokens).toBeLessThan(60);
    expect(view).toEqual(toWeighedView(view));
    expect(new Life(life.sql, "life-2").runtime.state).toEqual(fold(life.events()));
  });

  test("leaves no term in the index: its tables hold neither the word nor what it is found by, and the rest is found again", async () => {
    const life = await newLife();
    await say(life, `my password is ${SECRET} and I love Zanzibar`, "noted");
    await say(life, "the parrots are called Ada and Grace", "noted");
    expect(await find(life)).toBe(1);
    expect(terms(life)).toContain(SECRET);

    await redact(life);

    expect(terms(life)).not.toMatch(/hunter2|zanzibar/i);
    const found = await life.service.recall(CALLER, { query: "parrots", execution: null, from: null, to: null, offset: 0, limit: 10 });
    expect(found.ok && found.value.data).toHaveLength(1);
    expect(terms(life)).not.toMatch(/hunter2|zanzibar/i);
  });

  test("a reply of the model leaves the live stream, too", async () => {
    const life = await newLife();
    await say(life, "tell me", `it is ${SECRET}`);

    await redact(life);

    expect(everything(life)).not.toContain(SECRET);
  });

  test("a reply leaves the live stream also when the next message was sent while it was written", async () => {
    const life = await newLife();
    await life.send("tell me");
    await life.send("and then?");
    await life.answer(`it is ${SECRET}`);
    expect(life.runtime.state.turn).not.toBeNull();

    await redact(life);
    await life.answer("that is all");

    expect(everything(life)).not.toContain(SECRET);
  });

  test("a reply leaves the live stream also when the next message interrupted it", async () => {
    const life = await newLife();
    await life.send("tell me");
    await life.say({ type: "text", text: `it is ${SECRET}` });
    await life.send("enough", "interrupt");
    const before = life.runtime.buffer.offset;
    expect(life.runtime.state.turn).not.toBeNull();

    await redact(life);

    expect(everything(life)).not.toContain(SECRET);
    expect(await hear(life, before - 1)).toEqual(["turn.started", "message.redacted"]);
  });

  test("is reported on the stream, and a reader that resumes from before it receives a gap", async () => {
    const life = await newLife();
    await say(life, `my password is ${SECRET}`, "noted");
    const before = life.runtime.buffer.offset;

    await redact(life);

    expect(await hear(life, before)).toEqual(["message.redacted"]);
    expect(await hear(life, 1)).toEqual(["stream.gap", "message.redacted"]);
  });

  test("leaves the call in the ledger whose summary waited for the end of a turn", async () => {
    const life = await newLife({ policy: "oneclaw" });
    await say(life, `my password is ${SECRET}`, "noted");
    for (let n = 2; n <= 6; n++) await say(life, `question ${n} ${"word ".repeat(60)}`, `reply ${n} ${"word ".repeat(60)}`);
    await ask(life, { keepRecent: 200 });
    const id = life.runtime.state.compaction.requested?.id;
    if (!id) throw new Error("nothing was asked for");
    const leased = await life.service.leaseCompaction(CALLER, id);
    if (!leased.ok || leased.value.kind !== "leased") throw new Error("not leased");
    await life.send("meanwhile");
    const outcome = { ok: true, text: SECRET, finish: "stop", model: "m", estimate: 1, usage: null, ms: 1 } as const;
    await life.service.recordCompaction(CALLER, { compaction: id, token: leased.value.token, outcome, part: 0, next: null });
    expect(everything(life)).toContain(`"text":"${SECRET}"`.replaceAll('"', '\\"'));

    await redact(life);
    expect(everything(life)).not.toContain(SECRET);
    await life.answer("done");

    const calls = life.events().filter((event) => event.type === "ModelCallFinished" && event.purpose === "compaction");
    expect(calls).toMatchObject([{ outcome: "stale", lease: leased.value.token }]);
    expect(life.sql.all("SELECT 1 FROM pending_outcomes")).toEqual([]);
  });

  test("takes the summary with it that has read it; the next compaction reads the rest anew", async () => {
    const life = await newLife({ policy: "oneclaw" });
    await say(life, `my password is ${SECRET}`, "noted");
    for (let n = 2; n <= 6; n++) await say(life, `question ${n} ${"word ".repeat(60)}`, `reply ${n} ${"word ".repeat(60)}`);
    await compact(life, 200);
    // The summary repeats it.
    life.sql.all("UPDATE bodies SET text = ? WHERE id = ?", `${SUMMARY} ${SECRET}`, life.runtime.state.view.overlays[0]?.id ?? "");
    life.runtime.content.forget();
    expect(buildRequestText(life)).toContain(SECRET);

    await redact(life);

    expect(everything(life)).not.toContain(SECRET);
    expect(buildRequestText(life)).not.toContain(SECRET);
    expect(life.runtime.state.view.overlays).toMatchObject([{ kind: "dropped" }]);
    expect(await revert(life, newest(life) ?? ("cmp_01HZZZZZZZZZZZZZZZZZZZZZZZ" as never))).toMatchObject({ ok: false });
    for (let n = 7; n <= 9; n++) await say(life, `question ${n} ${"word ".repeat(60)}`, `reply ${n} ${"word ".repeat(60)}`);
    await compact(life, 200);
    expect(life.runtime.state.view.overlays).toMatchObject([{ kind: "summary", from: 1 }]);
  });

  test("a compaction under way, which has read it, comes to nothing", async () => {
    const life = await newLife({ policy: "oneclaw" });
    await say(life, `my password is ${SECRET}`, "noted");
    for (let n = 2; n <= 6; n++) await say(life, `question ${n} ${"word ".repeat(60)}`, `reply ${n} ${"word ".repeat(60)}`);
    const asked = await life.service.compact(CALLER, { dryRun: false, instructions: null, keepRecent: 200, upTo: null, idempotency: null });
    expect(asked).toMatchObject({ ok: true, value: { kind: "requested" } });

    await redact(life);
    await work(life);

    expect(life.runtime.state.compaction).toMatchObject({ requested: null, lease: null });
    expect(life.runtime.state.view.overlays).toEqual([]);
  });

  test("a draft that has read it ends, and none of its texts is kept", async () => {
    const life = await newLife({ policy: "oneclaw" });
    await say(life, `my password is ${SECRET}`, "noted");
    for (let n = 2; n <= 6; n++) await say(life, `question ${n} ${"word ".repeat(60)}`, `reply ${n} ${"word ".repeat(60)}`);
    const asked = await ask(life, { keepRecent: 200, draft: true });
    await work(life, `The password is ${SECRET}.`);
    const compaction = asked.kind === "requested" ? asked.compaction.id : null;
    if (!compaction) throw new Error("no draft was asked for");
    await life.service.editDraft(CALLER, { compaction, summary: `It is ${SECRET}, they say.`, edits: 0, by: id("key", 1) });
    expect(everything(life)).toContain("they say");

    await redact(life);

    expect(everything(life)).not.toContain(SECRET);
    expect(life.runtime.state.compaction.draft).toBeNull();
    expect(await life.service.commitDraft(CALLER, { compaction, edits: null, idempotency: null })).toMatchObject({ ok: false });
  });

  test("a tool's result goes with what came beside it", async () => {
    const life = await newLife();
    await useTools(life, "look", [`the key is ${SECRET}`]);

    await redact(life);

    expect(everything(life)).not.toContain(SECRET);
    expect(buildRequestText(life)).not.toContain(SECRET);
  });

  test("a tool's result, or its call, keeps its place: the request has both", async () => {
    for (const text of [SECRET, "look_up"]) {
      const life = await newLife();
      await useTools(life, "look", [`the key is ${SECRET}`]);
      await redact(life, text);

      await life.send("and then?");

      const parts = life.call.request.messages.flatMap(({ parts }) => parts);
      const redacted = text === SECRET ? { type: "tool_result", output: "[redacted]" } : { type: "tool_call", arguments: "{}" };
      expect(parts.filter(({ type }) => type.startsWith("tool_"))).toEqual([
        expect.objectContaining({ type: "tool_call", call_id: "call_0", name: "look_up" }),
        expect.objectContaining({ type: "tool_result", call_id: "call_0", name: "look_up" }),
      ]);
      expect(parts).toContainEqual(expect.objectContaining(redacted));
    }
  });

  test.each([
    { text: "", calls: 1 },
    { text: "", calls: 3 },
    { text: `I send ${SECRET}`, calls: 1 },
    { text: `I send ${SECRET}`, calls: 2 },
  ])("a reply goes with all its calls, and says so: text '$text', calls $calls", async ({ text, calls }) => {
    const life = await newLife();
    await life.send("log me in");
    if (text) life.call.say({ type: "text", text });
    const names = Array.from({ length: calls }, (_, n) => `call_${n}`);
    for (const call_id of names)
      life.call.say({ type: "tool_call", call: { type: "tool_call", call_id, name: "log_in", arguments: `{"password":"${SECRET}"}` } });
    await life.say({ type: "finish", finish: "tool_calls", usage: null });
    const results = names.map((call_id) => ({ execution_id: null, call_id, output: `opened ${call_id}`, is_error: false }));
    await life.service.toolResults(CALLER, { results, idempotency: null });
    await settle();
    await life.answer("you are in");

    await redact(life);

    expect(everything(life)).not.toContain(SECRET);
    expect(buildRequestText(life)).not.toContain(SECRET);
    expect(await find(life)).toBe(0);
    const executions = await life.service.executions(CALLER, { after: null, limit: 10, order: "asc" });
    expect(executions.ok && executions.value.data.map((execution) => execution.arguments)).toEqual(names.map(() => "{}"));
    const page = await life.service.items(CALLER, { after: 1, limit: 10, order: "asc" });
    const [reply, ...others] = page.ok ? page.value.data : [];
    expect(reply).toMatchObject({ redacted: true, tool_calls: names.map(() => ({ arguments: "{}", redacted: true })) });
    // The results are messages of their own.
    expect(others.map(({ content, redacted }) => [content[0], redacted])).toEqual(
      [...names.map((name) => `opened ${name}`), "you are in"].map((said) => [{ type: "text", text: said }, undefined]),
    );
    expect(life.runtime.state).toEqual(fold(life.events()));
  });

  test("a later call, or a result, goes alone by its own id", async () => {
    const life = await newLife();
    await useTools(life, "look", ["first output", "second output"]);
    const page = await life.service.items(CALLER, { after: 1, limit: 10, order: "asc" });
    const [reply, , second] = page.ok ? page.value.data : [];
    const call = reply?.tool_calls?.[1]?.id;
    if (!call || !second) throw new Error("there are no two calls");

    for (const each of [call, second.id]) expect(await life.service.redact(CALLER, each)).toMatchObject({ ok: true, value: { id: each } });

    const shown = await life.service.items(CALLER, { after: 1, limit: 10, order: "asc" });
    const [after, first, gone] = shown.ok ? shown.value.data : [];
    expect(after).not.toHaveProperty("redacted");
    expect(after?.tool_calls?.map(({ redacted }) => redacted)).toEqual([undefined, true]);
    expect([first, gone].map((result) => result?.redacted)).toEqual([undefined, true]);
  });

  test("of the turn under way is refused; of a turn before it, it goes at once", async () => {
    const life = await newLife();
    await say(life, `my password is ${SECRET}`, "noted");
    await life.send("question");

    expect(await life.service.redact(CALLER, await findId(life, "question"))).toMatchObject({ ok: false, error: { code: "turn_running" } });
    await redact(life);
    await life.answer("answer");

    expect(everything(life)).not.toContain(SECRET);
    expect(life.runtime.state.last_turn?.status).toBe("completed");
  });

  test("on a branch that was left is gone when that goes on", async () => {
    const life = await newLife();
    await say(life, `my password is ${SECRET}`, "noted");
    await life.service.rewind(CALLER, { to: 0, idempotency: null });
    await say(life, "hello", "hi");

    await redact(life);
    await life.service.switchBranch(CALLER, { branch: 1, idempotency: null });
    await settle();

    expect(buildRequestText(life)).not.toContain(SECRET);
    expect(buildRequestText(life)).toContain("[redacted]");
  });

  test("twice is once; an unknown one is refused", async () => {
    const life = await newLife();
    await say(life, `my password is ${SECRET}`, "noted");
    const message = await findId(life, SECRET);
    await redact(life);
    const { seq } = life.runtime.state;

    expect(await life.service.redact(CALLER, message)).toMatchObject({ ok: true, value: { id: message, position: 1 } });
    expect(life.runtime.state.seq).toBe(seq);
    expect(await life.service.redact(CALLER, "msg_01HZZZZZZZZZZZZZZZZZZZZZZZ" as ItemId)).toMatchObject({
      error: { code: "message_not_found" },
    });
  });
});
