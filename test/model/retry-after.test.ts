import { describe, expect, it } from "vitest";
import { readRetryAfter, readRetryWords } from "../../src/model/retry-after";

const NOW = Date.parse("2026-11-22T03:00:00Z");
const read = (headers: Record<string, string>) => readRetryAfter(new Headers(headers), NOW);

describe("the wait that a provider asks for", () => {
  it.each([
    [{ "retry-after": "7" }, 7_000],
    [{ "retry-after": " 0.5 " }, 500],
    [{ "retry-after": "0" }, 0],
    [{ "retry-after-ms": "1250.4" }, 1_251],
    [{ "retry-after-ms": "1250", "retry-after": "9" }, 1_250],
    [{ "retry-after-ms": "soon", "retry-after": "9" }, 9_000],
    [{ "retry-after": "Sun, 22 Nov 2026 03:00:30 GMT" }, 30_000],
    [{ "retry-after": "Sun, 22 Nov 2026 02:59:30 GMT" }, 0],
    [{ "retry-after": "999999999" }, 86_400_000],
  ])("%o is %d ms", (headers, ms) => {
    expect(read(headers)).toBe(ms);
  });

  it("is counted from the provider's clock where the answer tells it", () => {
    expect(read({ "retry-after": "Sun, 22 Nov 2026 09:00:30 GMT", date: "Sun, 22 Nov 2026 09:00:00 GMT" })).toBe(30_000);
  });

  it.each([{}, { "retry-after": "" }, { "retry-after": "-5" }, { "retry-after": "later" }, { "retry-after": "1e9" }])(
    "%o says none",
    (headers) => {
      expect(read(headers)).toBeNull();
    },
  );
});

describe("the wait that a provider asks for in words", () => {
  it.each([
    ["Please try again in 1.8s. Visit the site.", 1_800],
    ["Please try again in 340ms.", 340],
    ["Please try again in 6m0s.", 360_000],
    ["Please try again in 2m59.56s.", 179_560],
    ["Please try again in 1h12m.", 4_320_000],
    ["Please retry after 7 seconds.", 7_000],
    ["Please retry in 27s.", 27_000],
    ["Please try again in 99999999s.", 86_400_000],
  ])("%s", (message, ms) => {
    expect(readRetryWords(message)).toBe(ms);
  });

  it.each(["Please try again later.", "Try again in a while.", "Try again in 5 days.", "retry after 3 attempts", "in 5s"])(
    "%s says none",
    (message) => {
      expect(readRetryWords(message)).toBeNull();
    },
  );
});
