/** Functions that read a conversation read its current branch alone: summaries, titles, the newest question, a reset. */
import { expect, test } from "vitest";
import { SESSION } from "../support/builders";
import { CALLER, type Life, settle } from "./life";
import { buildRequestText, compact, newLife, say } from "./talk";

const long = (mark: string): string => `${mark} ${"word ".repeat(60)}`;

/** Two branches that diverge at 2. The current one is long enough to be compacted. */
async function branched(): Promise<Life> {
  const life = await newLife({ policy: "oneclaw" });
  await say(life, long("shared"), "reply");
  await say(life, long("elsewhere"), "reply");
  await life.service.rewind(CALLER, { to: 2, idempotency: null });
  await settle();
  for (let n = 1; n <= 5; n++) await say(life, long(`here ${n}`), long(`reply ${n}`));
  return life;
}

test("a summary is asked for what this branch says, on either side of what another said", async () => {
  const life = await branched();
  const asked = await life.service.compact(CALLER, { dryRun: false, instructions: null, keepRecent: 200, upTo: null, idempotency: null });
  const id = asked.ok && asked.value.kind === "requested" ? asked.value.compaction.id : null;
  if (!id) throw new Error("no compaction was asked for");

  const leased = await life.service.leaseCompaction(CALLER, id);

  if (!leased.ok || leased.value.kind !== "leased") throw new Error("not leased");
  const request = JSON.stringify(leased.value.part.request);
  expect(request).toContain("shared");
  expect(request).toContain("here 1");
  expect(request).not.toContain("elsewhere");
});

test("a reset brings back what this branch says", async () => {
  const life = await branched();
  await compact(life, 200);

  await life.service.resetSummary(CALLER);

  expect(buildRequestText(life)).toContain("shared");
  expect(buildRequestText(life)).toContain("here 1");
  expect(buildRequestText(life)).not.toContain("elsewhere");
});

test("what is looked up without words lists this branch", async () => {
  const life = await branched();
  await compact(life, 200);

  const newest = await life.runtime.ports().recall({ session_id: SESSION });
  const range = await life.runtime.ports().recall({ from: 1, to: 6 });

  expect(newest.output).toContain("here");
  expect(newest.output + range.output).not.toContain("elsewhere");
});
