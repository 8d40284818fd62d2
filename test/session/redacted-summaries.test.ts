/** A policy that redacts: secrets reach neither the summariser nor the summary that is kept, and the record stays whole. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { CompactInput } from "../../src/app/control-api";
import type { PolicyChoice } from "../../src/context/policy-choice";
import { type Planted, plantedSecret } from "../support/planted-secrets";
import { CALLER, type Life, settle } from "./life";
import { ask, newLife, ROOMY, say } from "./talk";

const REDACTING: PolicyChoice = { preset: "balanced", summary: { form: "narrative", redact: "secrets" } };
const filler = "lorem ipsum ".repeat(60);

async function talked(policy: PolicyChoice, planted: readonly Planted[]): Promise<Life> {
  const life = await newLife({ policy: JSON.stringify(policy), spec: ROOMY });
  for (const [turn, { text }] of planted.entries())
    await say(life, `question ${turn}: ${text}\n${filler}`, `reply ${turn} about ${text}\n${filler}`);
  for (let turn = 0; turn < 3; turn++) await say(life, `later ${turn} ${filler}`, `reply ${filler}`);
  return life;
}

async function lease(life: Life, input: Partial<CompactInput> = {}) {
  const asked = await ask(life, { keepRecent: 300, ...input });
  const compaction = asked.kind === "requested" ? asked.compaction.id : null;
  const leased = compaction && (await life.service.leaseCompaction(CALLER, compaction));
  if (!compaction || !leased?.ok || leased.value.kind !== "leased") throw new Error("nothing was leased");
  const { token, part } = leased.value;
  const answer = async (text: string): Promise<void> => {
    const outcome = { ok: true, text, finish: "stop", model: ROOMY.id, estimate: 1, usage: null, ms: 1 } as const;
    await life.service.recordCompaction(CALLER, { compaction, token, outcome, part: part.part, next: null });
    await settle();
  };
  return { request: JSON.stringify(part.request), answer };
}

async function newestRow(life: Life) {
  const rows = await life.service.compactions(CALLER, { after: null, limit: 20, order: "desc" });
  return rows.ok ? rows.value.data[0] : undefined;
}

/** As JSON escapes it, because a request is compared as JSON. */
const escaped = (text: string): string => JSON.stringify(text).slice(1, -1);

describe("a policy that redacts", () => {
  test("keeps planted secrets of each kind from the summariser and from the summary that repeats them, however often", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(plantedSecret, { minLength: 1, maxLength: 3 }), async (planted) => {
        const life = await talked(REDACTING, planted);
        const { request, answer } = await lease(life);
        await answer(planted.map(({ text }) => text).join("\n"));
        const row = await newestRow(life);

        for (const { secret } of planted) {
          expect(request).not.toContain(escaped(secret));
          expect(row?.summary).not.toContain(secret);
        }
        expect(row?.summary).toContain("[secret:");
        expect(row?.receipt?.redacted).toBeGreaterThanOrEqual(2 * planted.length);
        const items = await life.service.items(CALLER, { after: null, limit: 50, order: "asc", branch: "current" });
        for (const { text } of planted) expect(JSON.stringify(items)).toContain(escaped(text));
      }),
      { numRuns: 12 },
    );
  });

  test("keeps secrets of an earlier summary, of a request's instructions and of a policy from the next summary", async () => {
    const [planted] = fc.sample(plantedSecret, 1);
    if (!planted) throw new Error("nothing was drawn");
    const life = await talked({ preset: "balanced", summary: { form: "narrative", mode: "transcript", chain_ratio: null } }, [planted]);
    const first = await lease(life);
    expect(first.request).toContain(escaped(planted.secret));
    await first.answer(planted.text);
    expect((await newestRow(life))?.summary).toContain(planted.secret);

    await life.service.patch(CALLER, { policy: { summary: { redact: "secrets", instructions: `Never repeat ${planted.text}` } } });
    for (let turn = 0; turn < 3; turn++) await say(life, `more ${turn} ${filler}`, `reply ${filler}`);
    const { request } = await lease(life, { instructions: `Look after ${planted.text}` });

    expect(request).toContain("Previous conversation summary");
    expect(request).not.toContain(escaped(planted.secret));
  });

  test("asks with a transcript where it would read the turn's own prefix, and says in the receipt how many secrets it replaced", async () => {
    const modes: (string | null | undefined)[] = [];
    for (const redact of ["off", "secrets"] as const) {
      const life = await talked({ preset: "balanced", summary: { form: "narrative", redact } }, []);
      const { answer } = await lease(life);
      await answer("They spoke.");
      const receipt = (await newestRow(life))?.receipt;
      modes.push(receipt?.mode);
      expect(receipt?.redacted).toBe(redact === "off" ? undefined : 0);
    }

    expect(modes.at(-1)).toBe("transcript");
  });
});
