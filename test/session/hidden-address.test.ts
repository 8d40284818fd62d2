/** The address of a deployment's model may contain credentials. Nothing that a session's tenant can read shows any part of it. */
import { expect, test } from "vitest";
import type { ModelSpec } from "../../src/app/ports";
import { CALLER, SPEC } from "./life";
import { newLife, say } from "./talk";

const PAGE = { after: null, limit: 100, order: "asc" } as const;

/** Everything that a tenant can read of a session with two turns and a compaction, as one text. */
async function readEverything(spec: ModelSpec): Promise<string> {
  const life = await newLife();
  life.models = { resolve: async () => spec };
  await say(life, "question 1", "reply 1");
  await say(life, "question 2", "reply 2");
  const turn = life.runtime.state.last_turn?.id;
  if (!turn) throw new Error("no turn");
  const { service } = life;
  const reads = await Promise.all([
    service.describe(CALLER),
    service.context(CALLER, { content: null }),
    service.contextAt(CALLER, { turn, call: null }),
    service.contextDiff(CALLER, { from: { turn, call: null }, to: { turn: null, call: null } }),
    service.events(CALLER, PAGE),
    service.compactions(CALLER, PAGE),
    service.usage(CALLER, PAGE),
    service.turn(CALLER, turn),
  ]);
  expect(reads.map((read) => read.ok)).toEqual(reads.map(() => true));
  return JSON.stringify(reads);
}

test("the deployment's address is in no answer", async () => {
  const base_url = "https://user:hunter2@llm.internal.example/v1?key=hunter2";
  const reads = await readEverything({ ...SPEC, base_url, source: "deployment" });
  expect(reads).not.toMatch(/hunter2|internal\.example/);
});

test("the tenant's own is shown to it, without what could be a secret", async () => {
  const base_url = "https://user:hunter2@llm.example.com/v1?key=hunter2";
  const reads = await readEverything({ ...SPEC, base_url, source: "tenant" });
  expect(reads).toContain("https://llm.example.com/v1");
  expect(reads).not.toContain("hunter2");
});
