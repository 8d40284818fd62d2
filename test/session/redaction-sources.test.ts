/** A redaction follows the sources of each text through all intermediate texts, not the range that the text stands for. */
import { describe, expect, test } from "vitest";
import { FIRST_BRANCH } from "../../src/domain/branch";
import { fold } from "../../src/domain/evolve";
import type { ItemId, OverlayId } from "../../src/domain/ids";
import type { SummaryMode } from "../../src/domain/receipt";
import { toSummarySources } from "../../src/domain/summary-sources";
import { createProjection } from "../../src/read-model/writer";
import { newestItems } from "../../src/session/log/log-tables";
import { readRows } from "../read-model/rows";
import { SimD1 } from "../simulation/sim-d1";
import { everything, findId } from "./contents";
import { CALLER, type Life, settle } from "./life";
import { countBytes } from "./pilot";
import { ask, buildRequestText, cutOff, newLife, ROOMY, retry, SUMMARY, say, work } from "./talk";

const SECRET = "hunter2";
const DIGEST = `${SUMMARY}\nThe password is ${SECRET}.`;

const chain = (mode: SummaryMode): string =>
  JSON.stringify({ preset: "oneclaw", summary: { chain_ratio: 0.2, mode: mode === "transcript" ? mode : "cheaper" } });
const long = (mark: string): string => `${mark} ${"lorem ipsum ".repeat(60)}`;

/** The provider counts what it is sent. So its cache is known to be warm, and a summary reuses the turn's own prefix. */
async function talkOn(life: Life, from: number, to: number): Promise<void> {
  for (let turn = from; turn <= to; turn++) {
    await life.send(long(`question ${turn}`));
    await life.answer(long(`reply ${turn}`), countBytes(life.call.request));
  }
}

async function compactSaying(life: Life, text: string, keepRecent = 400): Promise<OverlayId> {
  await ask(life, { keepRecent });
  await work(life, text);
  const made = life.runtime.state.view.overlays.at(-1);
  if (made?.kind !== "summary") throw new Error("no summary was made");
  return made.id;
}

/** Two summaries. The secret is in the range of the first alone, and both contain it. */
async function chained(mode: SummaryMode): Promise<Life> {
  const life = await newLife({ policy: chain(mode) });
  await say(life, `my password is ${SECRET}`, "noted");
  await talkOn(life, 2, 5);
  await compactSaying(life, DIGEST);
  await talkOn(life, 6, 9);
  await compactSaying(life, mode === "same_prefix" ? DIGEST : SUMMARY);
  expect(life.runtime.state.view.overlays).toMatchObject([{ kind: "summary" }, { kind: "summary" }]);
  const leases = life.events().flatMap((event) => (event.type === "CompactionStarted" ? [event.mode] : []));
  expect(leases).toEqual([mode, mode]);
  return life;
}

async function redact(life: Life, text = `my password is ${SECRET}`): Promise<void> {
  const done = await life.service.redact(CALLER, await findId(life, text));
  if (!done.ok) throw new Error(done.error.code);
  await settle();
}

/** The messages that are marked in the record, newest first. */
const listRedacted = (life: Life): readonly ItemId[] => newestItems(life.sql, 1_000).flatMap(({ id, redacted }) => (redacted ? [id] : []));

describe("a redaction", () => {
  test("reaches a summary that has read the summary of it, and the next request has its words nowhere", async () => {
    const life = await chained("same_prefix");
    expect(buildRequestText(life).split(SECRET)).toHaveLength(3);

    await redact(life);

    expect(everything(life).includes(SECRET)).toBe(false);
    expect(buildRequestText(life).includes(SECRET)).toBe(false);
    expect(life.runtime.state.view.overlays).toMatchObject([{ kind: "dropped" }, { kind: "dropped" }]);
    expect(life.runtime.state).toEqual(fold(life.events()));
  });

  test("leaves a summary that was made from a transcript of other messages", async () => {
    const life = await chained("transcript");

    await redact(life);

    expect(life.runtime.state.view.overlays).toMatchObject([{ kind: "dropped" }, { kind: "summary" }]);
    expect(buildRequestText(life)).toContain("## Part 0");
    expect(everything(life).includes(SECRET)).toBe(false);
  });

  test("of a reply that a retry had taken back, or of a branch that was left, leaves a summary whose range it lies in", async () => {
    const life = await newLife({ policy: "oneclaw" });
    await say(life, "hello", "good day");
    await say(life, `my password is ${SECRET}`, "noted");
    await life.service.rewind(CALLER, { to: 2, idempotency: null });
    await cutOff(life, "what is it?", "it begins with hunter3");
    await retry(life, "nobody said");
    await talkOn(life, 3, 6);
    await compactSaying(life, SUMMARY);
    expect(life.runtime.state.view.overlays).toMatchObject([{ kind: "summary", from: 1 }]);

    await redact(life);
    await redact(life, "it begins with hunter3");

    expect(life.runtime.state.view.overlays).toMatchObject([{ kind: "summary", from: 1 }]);
    expect(listRedacted(life)).toHaveLength(2);
  });

  test("reaches a summary that may have read the end of its range before a retry took that back", () => {
    const range = { from: 1, to: 9 };
    const plan = { range, source: range, replaces: [], merge: false, mode: "transcript" } as const;
    const branch = { ...FIRST_BRANCH, elsewhere: [{ from: 2, to: 3 }], taken_back: [{ from: 8, to: 9 }] };

    expect(toSummarySources(plan, { view: { items: [], overlays: [] }, pins: [], branch }).ranges).toEqual([
      { from: 1, to: 1 },
      { from: 4, to: 9 },
    ]);
  });

  test("lets the conversation go on: the next compaction reads what the summaries had stood for", async () => {
    const life = await chained("same_prefix");
    await redact(life);
    await talkOn(life, 10, 12);
    await ask(life, { keepRecent: 400 });
    const id = life.runtime.state.compaction.requested?.id;
    if (!id) throw new Error("nothing was asked for");

    const leased = await life.service.leaseCompaction(CALLER, id);

    if (!leased.ok || leased.value.kind !== "leased") throw new Error("not leased");
    const asked = JSON.stringify(leased.value.part.request.messages);
    expect(asked).toContain("question 2");
    expect(asked).toContain("question 9");
    expect(asked).not.toContain(SECRET);
  });

  test("reaches a summary that took the place of the one that has read it", async () => {
    const life = await newLife({ policy: "oneclaw" });
    await say(life, `my password is ${SECRET}`, "noted");
    await talkOn(life, 2, 5);
    const first = await compactSaying(life, DIGEST);
    await talkOn(life, 6, 9);
    const second = await compactSaying(life, DIGEST);

    await redact(life);

    const [redacted] = life.events().filter((event) => event.type === "MessageRedacted");
    expect(redacted).toMatchObject({ texts: [first, second] });
    expect(everything(life).includes(SECRET)).toBe(false);
  });

  test("reaches summaries on a branch that was left, which is gone on with without them", async () => {
    const life = await chained("same_prefix");
    const before = life.runtime.state.next_position;
    await talkOn(life, 10, 10);
    await life.service.rewind(CALLER, { to: before - 1, idempotency: null });

    await redact(life);
    await life.service.switchBranch(CALLER, { branch: 1, idempotency: null });
    await settle();

    expect(everything(life).includes(SECRET)).toBe(false);
    expect(buildRequestText(life).includes(SECRET)).toBe(false);
    expect(life.runtime.state.view.overlays).toMatchObject([{ kind: "dropped" }, { kind: "dropped" }]);
  });

  test("reaches a draft that was committed as a person had edited it", async () => {
    const life = await newLife({ policy: chain("same_prefix") });
    await say(life, `my password is ${SECRET}`, "noted");
    await talkOn(life, 2, 5);
    await compactSaying(life, DIGEST);
    await talkOn(life, 6, 9);
    const asked = await ask(life, { keepRecent: 400, draft: true });
    await work(life, DIGEST);
    const compaction = asked.kind === "requested" ? asked.compaction.id : null;
    if (!compaction) throw new Error("no draft was asked for");
    const by = "key_01HZZZZZZZZZZZZZZZZZZZZZZZ" as never;
    await life.service.editDraft(CALLER, { compaction, summary: `They say ${SECRET}.`, edits: 0, by });
    expect(await life.service.commitDraft(CALLER, { compaction, edits: null, idempotency: null })).toMatchObject({ ok: true });

    await redact(life);

    expect(everything(life).includes(SECRET)).toBe(false);
    expect(buildRequestText(life).includes(SECRET)).toBe(false);
  });

  test("reaches the rows of the read model, of the summaries and of the session", async () => {
    const life = await chained("same_prefix");
    const { direct } = new SimD1();
    life.projection = createProjection(direct);
    life.runtime.drain.start();
    await settle();
    expect(JSON.stringify(await readRows(direct, CALLER)).split(`is ${SECRET}`).length).toBeGreaterThan(4);

    await redact(life);
    await life.advance(1_000);

    expect(JSON.stringify(await readRows(direct, CALLER)).includes(SECRET)).toBe(false);
  });

  test("takes a title that a model made from it, and none that a person set", async () => {
    const titled = async (): Promise<Life> => {
      const life = await newLife({ policy: `{"preset":"oneclaw","title_model":"${ROOMY.id}"}` });
      await say(life, `my password is ${SECRET}`, "noted");
      await life.say({ type: "text", text: `The password ${SECRET}` }, { type: "finish", finish: "stop", usage: null });
      return life;
    };
    const made = await titled();
    expect(made.runtime.content.readRefText(made.runtime.state.settings.title)).toContain(SECRET);
    await redact(made);
    expect(made.runtime.state.settings.title).toBeNull();
    expect(everything(made).includes(SECRET)).toBe(false);

    const named = await titled();
    await named.service.patch(CALLER, { title: "Holidays" });
    await redact(named);
    expect(named.runtime.content.readRefText(named.runtime.state.settings.title)).toBe("Holidays");
  });

  test("of the text from which a title is being made leaves the session without that title", async () => {
    const life = await newLife({ policy: `{"preset":"oneclaw","title_model":"${ROOMY.id}"}` });
    await say(life, `my password is ${SECRET}`, "noted");
    await redact(life);
    await life.say({ type: "text", text: `The password ${SECRET}` }, { type: "finish", finish: "stop", usage: null });

    expect(life.runtime.state.settings.title).toBeNull();
    expect(everything(life).includes(SECRET)).toBe(false);
  });
});

describe("answers of look-ups", () => {
  /** Turns whose first call looks the words up, and that are then answered. */
  async function lookUp(life: Life, query: string): Promise<void> {
    await life.send("what did I say?");
    const call = { type: "tool_call", call_id: "look", name: "memory_query", arguments: JSON.stringify({ query }) } as const;
    await life.say({ type: "tool_call", call }, { type: "finish", finish: "tool_calls", usage: null });
    await life.advance(1);
  }

  async function compacted(): Promise<Life> {
    const life = await newLife({ policy: "oneclaw" });
    await say(life, `my password is ${SECRET}`, "noted");
    await talkOn(life, 2, 5);
    await compactSaying(life, SUMMARY);
    return life;
  }

  test("that quote what is redacted go with it, and with them the summaries that were made from them", async () => {
    const life = await compacted();
    await lookUp(life, "password");
    await life.answer("I know");
    expect(buildRequestText(life)).toContain(`is ${SECRET}`);
    await talkOn(life, 6, 9);
    await compactSaying(life, DIGEST);

    await redact(life);

    expect(everything(life).includes(SECRET)).toBe(false);
    expect(buildRequestText(life).includes(SECRET)).toBe(false);
    expect(listRedacted(life)).toHaveLength(2);
  });

  test("that quote something else stay", async () => {
    const life = await compacted();
    await lookUp(life, "question 3");
    await life.answer("I know");

    await redact(life);

    expect(listRedacted(life)).toHaveLength(1);
  });

  test("that the running turn has asked for leave the redaction for its end", async () => {
    const life = await compacted();
    await lookUp(life, "password");
    const message = await findId(life, `my password is ${SECRET}`);

    expect(await life.service.redact(CALLER, message)).toMatchObject({ ok: false, error: { code: "turn_running" } });
    await life.answer("I know");
    expect(await life.service.redact(CALLER, message)).toMatchObject({ ok: true });
  });
});

describe("of a log whose redaction left a summary behind", () => {
  test("is finished by asking for the redaction again", async () => {
    const life = await chained("same_prefix");
    const [, later] = life.runtime.state.view.overlays;
    const message = (await findId(life, `my password is ${SECRET}`)) as ItemId;
    const { text } = life.sql.all<{ text: string }>("SELECT text FROM bodies WHERE id = ?", later?.id ?? "")[0] ?? { text: "" };
    await redact(life);
    life.sql.all("INSERT INTO bodies (id, part, text) VALUES (?, 0, ?)", later?.id ?? "", text);
    expect(everything(life).includes(SECRET)).toBe(true);

    expect(await life.service.redact(CALLER, message)).toMatchObject({ ok: true });

    expect(everything(life).includes(SECRET)).toBe(false);
    expect(listRedacted(life)).toEqual([message]);
    const { seq } = life.runtime.state;
    await life.service.redact(CALLER, message);
    expect(life.runtime.state.seq).toBe(seq);
  });
});
