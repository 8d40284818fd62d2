/** The table of `docs/api/concurrent-changes.md` and the OpenAPI document name the same operations for each header of a condition. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { world } from "./support";

interface Named {
  readonly $ref?: string;
  readonly headers?: Readonly<Record<string, unknown>>;
}
interface Operation {
  readonly parameters?: readonly { readonly name: string; readonly in: string }[];
  readonly responses: Readonly<Record<string, Named>>;
}
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

const PAGE = join(import.meta.dirname, "..", "..", "docs", "api", "concurrent-changes.md");
const HEADERS = ["ETag", "If-Match", "If-None-Match"] as const;
type Header = (typeof HEADERS)[number];

const [title = [], , ...rows] = readFileSync(PAGE, "utf8")
  .split("\n")
  .filter((line) => line.startsWith("|"))
  .map((line) =>
    line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
const readCode = (cell: string): readonly string[] => [...cell.matchAll(/`([^`]+)`/g)].map(([, code = ""]) => code);

const listTold = (header: Header): readonly string[] => {
  const [path, at] = ["path", `\`${header}\``].map((name) => title.indexOf(name));
  return rows.flatMap((row) => readCode(row[at ?? -1] ?? "").map((method) => `${method} ${readCode(row[path ?? -1] ?? "").join()}`)).sort();
};

const document: Document = await (await world().app.request("/openapi.json")).json();
const operations = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({
    name: `${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ":$1")}`,
    operation,
  })),
);

/** Whether every success has the header. One that only some have is a fault of the document. */
const isTagged = ({ responses }: Operation): boolean => {
  const tagged = Object.entries(responses).map(
    ([status, { headers }]) => [Number(status), headers !== undefined && "ETag" in headers] as const,
  );
  const successes = tagged.filter(([status]) => status < 400);
  const has = successes.filter(([, isOne]) => isOne).length;
  expect([0, successes.length]).toContain(has);
  return has > 0;
};

const takes = ({ parameters = [] }: Operation, header: Header): boolean =>
  parameters.some((parameter) => parameter.in === "header" && parameter.name === header);

const listDocumented = (header: Header): readonly string[] =>
  operations
    .filter(({ operation }) => (header === "ETag" ? isTagged(operation) : takes(operation, header)))
    .map(({ name }) => name)
    .sort();

it.each(HEADERS)("the page and the document name the same operations for %s", (header) => {
  expect(listTold(header).length).toBeGreaterThan(5);
  expect(listTold(header)).toEqual(listDocumented(header));
});

it("every resource has one row, which says what its etag changes with", () => {
  const paths = rows.map((row) => row[title.indexOf("path")]);
  expect(new Set(paths).size).toBe(paths.length);
  expect(rows.filter((row) => row.length !== title.length || row.at(-1) === "" || row[0] === "")).toEqual([]);
});

it("a condition on a change may fail with 412, and one on a read be met with 304", () => {
  const conditional = operations.filter(({ operation }) => takes(operation, "If-None-Match"));
  const told = conditional.map(({ name, operation: { responses } }) => [name, "412" in responses, "304" in responses]);
  expect(told).toEqual(conditional.map(({ name }) => [name, !name.startsWith("GET "), name.startsWith("GET ")]));
});
