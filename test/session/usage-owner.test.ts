/** For which key and which end user a model call is counted. */
import { expect, test } from "vitest";
import type { Caller } from "../../src/app/session-api";
import type { LedgerRow } from "../../src/contract/model-call";
import type { ErasedUsage } from "../../src/domain/erased-usage";
import type { KeyId } from "../../src/domain/ids";
import { ringAlarm } from "../../src/session/alarm";
import { id } from "../support/builders";
import { everything } from "./contents";
import { CALLER, type Life, settle } from "./life";
import { BY_HAND, newLife, work } from "./talk";

const [ONE, TWO, THREE] = [id("key", 1), id("key", 2), id("key", 3)];
const as = (key: KeyId): Caller => ({ ...CALLER, key });
const filler = "lorem ipsum ".repeat(40);

async function submit(life: Life, key: KeyId, text: string): Promise<void> {
  const message = { role: "user", parts: [{ type: "text", text }] } as const;
  const input = { ...message, run: true, onBusy: "queue", tools: null, idempotency: null } as const;
  const accepted = await life.service.submit(as(key), input);
  if (!accepted.ok) throw new Error(accepted.error.code);
  await life.advance(0);
}

async function talk(life: Life, key: KeyId, text = `question ${filler}`): Promise<void> {
  await submit(life, key, text);
  await life.answer(`reply ${filler}`);
}

async function owners(life: Life): Promise<readonly (readonly [LedgerRow["purpose"], string | null, string | null])[]> {
  const found = await life.service.usage(CALLER, { after: null, limit: 50, order: "asc" });
  if (!found.ok) throw new Error(found.error.code);
  return found.value.data.map(({ purpose, key_id, end_user }) => [purpose, key_id, end_user]);
}

test("a turn's calls are counted for the key that asked, also where the message waited behind another key's turn", async () => {
  const life = await newLife();
  await submit(life, ONE, "first");
  await submit(life, TWO, "second");
  await life.answer("one");
  await life.answer("two");

  expect(await owners(life)).toEqual([
    ["turn", ONE, null],
    ["turn", TWO, null],
  ]);
});

test("a retry is counted for the key that retries", async () => {
  const life = await newLife();
  await submit(life, ONE, "hello");
  await life.service.stop(CALLER, { idempotency: null });
  await life.service.retry(as(TWO), { idempotency: null });
  await settle();
  await life.answer("well");

  expect((await owners(life)).map(([, key]) => key)).toEqual([ONE, TWO]);
});

test("a compaction by hand is counted for the key that asked for it, a comparison for its own key, whichever key asked for the newest turn", async () => {
  const life = await newLife();
  for (let turn = 0; turn < 4; turn++) await talk(life, ONE);
  const asked = await life.service.compact(as(TWO), { ...BY_HAND, keepRecent: 300, idempotency: null });
  expect(asked).toMatchObject({ ok: true, value: { kind: "requested" } });
  await work(life, "They spoke of nothing.");

  const questions = [{ question: "Of what?", expect: null }];
  const compared = life.service.compareSummaries(as(THREE), { a: "current", b: "current", questions, model: null });
  await settle();
  const comparisons = life.calls.filter(({ request }) => request.purpose === "comparison");
  for (const call of comparisons) call.say({ type: "text", text: "Of nothing." }, { type: "finish", finish: "stop", usage: null });
  await compared;

  expect((await owners(life)).slice(-3)).toEqual([
    ["compaction", TWO, null],
    ["comparison", THREE, null],
    ["comparison", THREE, null],
  ]);
});

test("a call that no key asked for has none", async () => {
  const life = await newLife();
  await life.send("hello");
  await life.answer("well");
  expect(await owners(life)).toEqual([["turn", null, null]]);
});

test("a call is counted for the end user of its time, and the name of a replaced one stays as long as calls are counted for it", async () => {
  const life = await newLife();
  await life.service.patch(CALLER, { end_user: "nobody yet" });
  await life.service.patch(CALLER, { end_user: "李雷" });
  await talk(life, ONE, "hello");
  await life.service.patch(CALLER, { end_user: "=韩梅梅" });
  await talk(life, ONE, "hello again");
  await life.service.patch(CALLER, { end_user: null });
  await talk(life, ONE, "and again");

  expect((await owners(life)).map(([, , user]) => user)).toEqual(["李雷", "=韩梅梅", null]);
  expect(everything(life)).not.toContain("nobody yet");
});

test("what an erasure hands over is summed by key and end user", async () => {
  const life = await newLife();
  const handed: (readonly ErasedUsage[])[] = [];
  life.usageArchive = {
    keep: async (_, usage) => {
      handed.push(usage);
      return usage;
    },
  };
  await talk(life, ONE, "hello");
  await life.service.patch(CALLER, { end_user: "李雷" });
  await talk(life, ONE, "hello");
  await talk(life, TWO, "hello");
  await talk(life, TWO, "hello");
  await life.service.erase(CALLER);

  expect(handed.flat().map(({ key_id, end_user, calls }) => [key_id, end_user, calls])).toEqual([
    [ONE, "", 1],
    [ONE, "李雷", 1],
    [TWO, "李雷", 2],
  ]);
});

/** A session that was Li Lei's and then Han Meimei's, each for one call. */
async function handedOn(): Promise<Life> {
  const life = await newLife();
  for (const end_user of ["李雷", "韩梅梅"]) {
    await life.service.patch(CALLER, { end_user });
    await talk(life, ONE, "hello");
  }
  await life.advance(1_000);
  return life;
}

test("a session tells which end users its calls name beside the present one", async () => {
  const life = await handedOn();
  expect(await life.service.formerEndUsers(CALLER)).toEqual({ ok: true, value: ["李雷"] });
  await life.service.patch(CALLER, { end_user: null });
  expect(await life.service.formerEndUsers(CALLER)).toEqual({ ok: true, value: ["李雷", "韩梅梅"] });
});

test("a former end user whose name is forgotten is in no row of the session, and its calls stay, in the ledger and for an erasure", async () => {
  const life = await handedOn();
  const forgotten: (readonly number[])[] = [];
  life.projection = {
    ...life.projection,
    forgetEndUsers: async ({ calls }) => {
      forgotten.push(calls);
      return true;
    },
  };

  // The present end user is not a former one.
  expect(await life.service.forgetEndUsers(CALLER, ["李雷", "韩梅梅"])).toEqual({ ok: true, value: true });

  expect(everything(life)).not.toContain("李雷");
  const seen = await owners(life);
  expect(seen.map(([, key, user]) => [key, user])).toEqual([
    [ONE, null],
    [ONE, "韩梅梅"],
  ]);
  expect(await life.service.formerEndUsers(CALLER)).toEqual({ ok: true, value: [] });
  // The calls are named again for a read model that was out of reach before.
  await life.service.forgetEndUsers(CALLER, []);
  expect(forgotten).toEqual([forgotten[0], forgotten[0]]);
  expect(forgotten[0]).toHaveLength(1);
});

test("a name is not forgotten while the read model lags: a batch that has it may be on its way", async () => {
  const life = await handedOn();
  let asked = 0;
  const here = life.projection;
  life.projection = { ...here, write: () => Promise.reject(new Error("away")), forgetEndUsers: async () => ++asked > 0 };
  await talk(life, ONE, "hello");

  expect(await life.service.forgetEndUsers(CALLER, ["李雷"])).toEqual({ ok: true, value: false });
  expect([asked, everything(life).includes("李雷")]).toEqual([0, false]);

  life.projection = { ...here, forgetEndUsers: async () => ++asked > 0 };
  await life.advance(120_000);
  ringAlarm(life.runtime);
  await settle();
  expect(await life.service.forgetEndUsers(CALLER, [])).toEqual({ ok: true, value: true });
});
