/** No request is larger than what is held in memory, whatever the window and the policy. */
import { expect, test } from "vitest";
import { contentBytes, MAX_VIEW_BYTES } from "../../src/context/budget";
import { planGuard } from "../../src/context/guard";
import { policyOf } from "../../src/context/policy-choice";
import { item, viewing } from "../support/builders";
import { carriedOut, limitsOf } from "./planning";

const large = (count: number, bytes: number) =>
  viewing(Array.from({ length: count }, (_, n) => item(n + 1, n % 2 ? "assistant" : "user", { bytes, tokens: bytes / 4 })));
const guard = (state: ReturnType<typeof large>, window: number | null) =>
  planGuard({ state, limits: limitsOf(window), policy: policyOf("oneclaw") });

test.each([null, 100_000_000])("in a window of %s the oldest messages leave what is larger, and the newest stay", (window) => {
  const state = large(501, 100_000);
  const plan = guard(state, window);
  const after = carriedOut(state, plan, { limits: limitsOf(window) });
  expect(plan).toMatchObject({ kind: "compact", trigger: "guard", rungs: [{ rung: "drop", from: 1 }] });
  expect(contentBytes(after)).toBeLessThanOrEqual(MAX_VIEW_BYTES);
  expect(contentBytes(after)).toBeGreaterThan(MAX_VIEW_BYTES / 2);
  expect(after.view.items.at(-1)).toMatchObject({ position: 501, kind: "user" });
});

test("exactly as much as may be is sent as it is", () => {
  expect(guard(large(70, MAX_VIEW_BYTES / 70), null)).toMatchObject({ kind: "none", reason: "unknown_window" });
});

test("what must stay and is larger by itself is refused, with what weighs most", () => {
  const plan = guard(large(1, MAX_VIEW_BYTES + 4), null);
  expect(plan).toMatchObject({
    kind: "cannot_fit",
    fit: { biggest: [{ what: "user at position 1" }, { what: "system prompt and tools" }] },
  });
  if (plan.kind === "cannot_fit") expect(plan.fit.limit).toBeLessThan(plan.fit.floor);
});
