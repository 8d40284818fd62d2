/** No request exceeds the bound in bytes, whatever the window and the policy. */
import { describe, expect, test } from "vitest";
import { planGuard } from "../../src/context/guard";
import { MAX_REQUEST_BYTES } from "../../src/context/model-quirks";
import { toPolicy } from "../../src/context/policy-choice";
import { MAX_CONTENT_BYTES, toMaxWeight, weighText } from "../../src/context/request-bytes";
import { MESSAGE_OVERHEAD_TOKENS } from "../../src/context/tokens";
import { utf8Bytes } from "../../src/lib/text-bytes";
import { call, item, result, sized, turnId, viewing } from "../support/builders";
import { carriedOut, toLimits } from "./planning";

const large = (count: number, bytes: number) =>
  viewing(Array.from({ length: count }, (_, n) => item(n + 1, n % 2 ? "assistant" : "user", { bytes, tokens: bytes / 4 })));
const guard = (state: ReturnType<typeof large>, window: number | null) =>
  planGuard({ state, limits: toLimits(window), policy: toPolicy("oneclaw") });

/** Content that, with its frames, reaches the bound exactly. */
const exactly = (count: number) => {
  const frame = sized(large(1, 0)).bytes();
  return large(count, MAX_CONTENT_BYTES / count - frame);
};

test.each([null, 100_000_000])("in a window of %s the oldest messages leave what is larger, and the newest stay", (window) => {
  const state = large(501, 100_000);
  const plan = guard(state, window);
  const after = carriedOut(state, plan, { limits: toLimits(window) });
  expect(plan).toMatchObject({ kind: "compact", trigger: "guard", rungs: [{ rung: "drop", from: 1 }] });
  expect(sized(after).bytes()).toBeLessThanOrEqual(MAX_CONTENT_BYTES);
  expect(sized(after).bytes()).toBeGreaterThan(MAX_CONTENT_BYTES / 2);
  expect(after.view.items.at(-1)).toMatchObject({ position: 501, kind: "user" });
});

test("exactly as much as may be is sent as it is", () => {
  const state = exactly(70);
  expect(sized(state).bytes()).toBe(MAX_CONTENT_BYTES);
  expect(guard(state, null)).toMatchObject({ kind: "none", reason: "unknown_window" });
});

test("so many short messages that their frames are most of a request are as large as their frames", () => {
  const state = large(100_000, 30);
  expect(sized(state).bytes()).toBeGreaterThan(MAX_REQUEST_BYTES);
  expect(guard(state, null)).toMatchObject({ kind: "compact", rungs: [{ rung: "drop" }] });
});

test("results of the newest group that are too large together are shown by their ends", () => {
  const turn = turnId(1);
  const calls = Array.from({ length: 400 }, (_, n) => call(2 + n, n, { turn, bytes: 100 }));
  const results = calls.map((_, n) => result(402 + n, n, { turn, bytes: 30_000, tokens: 8_000 }));
  const state = viewing([item(1, "user", { turn }), ...calls, ...results]);
  expect(sized(state).bytes()).toBeGreaterThan(MAX_CONTENT_BYTES);

  const plan = guard(state, null);

  expect(plan).toMatchObject({ kind: "compact", rungs: [{ rung: "shorten" }] });
  expect(sized(carriedOut(state, plan, { limits: toLimits(null) })).bytes()).toBeLessThanOrEqual(MAX_CONTENT_BYTES);
});

describe("what must stay and is larger by itself", () => {
  const state = large(1, MAX_CONTENT_BYTES + 4);
  const bytes = { floor: sized(state).bytes(), limit: MAX_CONTENT_BYTES };

  test("is refused, and the report names its bytes, the most that may be, and what weighs most", () => {
    const plan = guard(state, null);
    expect(plan).toMatchObject({
      kind: "cannot_fit",
      fit: {
        bytes,
        biggest: [
          { what: "user at position 1", bytes: bytes.floor },
          { what: "system prompt and tools", bytes: 0 },
        ],
      },
    });
    if (plan.kind === "cannot_fit") expect(plan.fit.limit).toBeLessThan(plan.fit.floor);
  });

  test("is measured by what stays, not by what leaves as well", () => {
    const older = item(1, "user", { bytes: 3_000_000 });
    const state = viewing([older, item(2, "assistant"), item(3, "user", { bytes: MAX_CONTENT_BYTES })]);
    const staying = sized(state).bytes() - sized(state).itemBytes(older);
    const plan = guard(state, null);
    if (plan.kind !== "cannot_fit") throw new Error(plan.kind);
    expect(plan.fit.bytes?.floor).toBeLessThanOrEqual(staying);
    expect(plan.fit.biggest.map(({ what }) => what)).not.toContain("user at position 1");
  });

  test("is refused for its tokens, and names no bytes, where they are the reason", () => {
    const plan = guard(viewing([item(1, "user", { tokens: 20_000 - MESSAGE_OVERHEAD_TOKENS, bytes: 60_000 })]), 8_000);
    expect(plan).toMatchObject({ kind: "cannot_fit" });
    if (plan.kind !== "cannot_fit") return;
    expect(plan.fit.bytes).toBeUndefined();
    expect(plan.fit.biggest[0]).toEqual({ what: "user at position 1", tokens: expect.any(Number) });
  });
});

test.each(["a ", " ", "\n", "\u0001", '"', "ü", "语", "𝒳", "x"])(
  "texts of %j within the weight of a request are within its bytes",
  (sign) => {
    const text = sign.repeat(10_000);
    const fitting = Math.floor(toMaxWeight({}) / weighText(text));
    expect(fitting * utf8Bytes(JSON.stringify(text).slice(1, -1))).toBeLessThanOrEqual(MAX_CONTENT_BYTES);
  },
);
