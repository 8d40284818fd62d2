import fc from "fast-check";
import { expect, test } from "vitest";
import { LonghandError, readRefusal } from "../../packages/client/src/errors.ts";
import { chooseWait, isPassing, sleep } from "../../packages/client/src/retry.ts";

test("waits double up to eight seconds, differ by chance, and are never shorter than the server asks", () => {
  fc.assert(
    fc.property(fc.nat({ max: 40 }), fc.option(fc.nat({ max: 60_000 })), (failures, asked) => {
      const longest = Math.min(8_000, 500 * 2 ** failures);
      const wait = chooseWait(failures, asked) - (asked ?? 0);
      expect(wait).toBeGreaterThanOrEqual(longest / 2);
      expect(wait).toBeLessThanOrEqual(longest);
    }),
  );
  expect(new Set(Array.from({ length: 20 }, () => chooseWait(3, null))).size).toBeGreaterThan(1);
});

const refuse = (status: number, retryAfter: string, body = "") =>
  readRefusal("GET /v1/tenant", new Response(body, { status, headers: { "retry-after": retryAfter } }));

test.each([
  ["2", 2_000],
  ["0", 0],
  ["Mon, 23 Nov 2020 00:00:00 GMT", 0],
  ["soon", null],
])("Retry-After: %s is %s ms", async (header, ms) => {
  expect((await refuse(503, header)).retryAfterMs).toBe(ms);
});

test("Retry-After can be a date", async () => {
  const { retryAfterMs } = await refuse(429, new Date(Date.now() + 3_600_000).toUTCString());
  expect(retryAfterMs).toBeGreaterThan(3_000_000);
  expect(retryAfterMs).toBeLessThanOrEqual(3_600_000);
});

test.each([400, 401, 403, 404, 409, 412, 413, 422, 501])("%i is not asked again", async (status) => {
  expect(isPassing(await refuse(status, "0"))).toBe(false);
});

test.each(["[]", "null", '"text"', "{}", '{"detail":', "", '{"type":5,"detail":7,"errors":"no"}'])(
  "%s as a refusal's body is no problem document",
  async (body) => {
    const error = await refuse(503, "0", body);
    expect(error).toBeInstanceOf(LonghandError);
    expect(error).toMatchObject({ status: 503, code: "unexpected_answer", type: "about:blank", errors: [] });
    expect(error.message).toContain("503");
  },
);

test("a wait ends with the signal's reason, before it and while it lasts", async () => {
  await expect(sleep(60_000, AbortSignal.abort(new Error("Enough.")))).rejects.toThrow("Enough.");
  const leaving = new AbortController();
  const waiting = sleep(60_000, leaving.signal);
  leaving.abort(new Error("Later."));
  await expect(waiting).rejects.toThrow("Later.");
});
