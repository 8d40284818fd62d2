/** Whatever a client's own ids and filters hold, a server reads them as they were. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { buildPath, buildQuery } from "../../packages/client/src/address.ts";

const text = fc.string({ unit: "grapheme", maxLength: 12 });

test("any text is one segment of a path, and is read as it was", () => {
  const segment = text.filter((value) => value !== "" && value !== "." && value !== "..");
  fc.assert(
    fc.property(segment, segment, (a, b) => {
      const { pathname, search, hash } = new URL(`http://host${buildPath("/v1/{a}/of/{b}", { a, b })}`);
      const [empty, version, first = "", of, second = "", ...rest] = pathname.split("/");
      expect([empty, version, decodeURIComponent(first), of, decodeURIComponent(second), rest, search, hash]).toEqual([
        "",
        "v1",
        a,
        "of",
        b,
        [],
        "",
        "",
      ]);
    }),
  );
});

test("any text of a query is read as it was, by its name and the name of its entry", () => {
  fc.assert(
    fc.property(text, fc.dictionary(text, text), fc.array(text), (q, metadata, tags) => {
      const read = [...new URL(`http://host/${buildQuery({ q, metadata, tags, limit: 5, left: undefined })}`).searchParams];
      const entries = Object.entries(metadata).map(([name, value]) => [`metadata[${name}]`, value]);
      expect(read).toEqual([["q", q], ...entries, ...tags.map((tag) => ["tags", tag]), ["limit", "5"]]);
    }),
  );
});

test("a query without a value is nothing", () => {
  expect(buildQuery({ limit: undefined, metadata: {}, tags: [] })).toBe("");
});
