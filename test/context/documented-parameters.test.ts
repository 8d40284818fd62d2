/** The tables of docs/policy-parameters.md, against the schema of a policy and the default. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { type PolicyParameter, policyParameters } from "../../src/context/policy-parameters";
import { presets } from "../../src/context/presets";

const rows = readFileSync("docs/policy-parameters.md", "utf8")
  .split("\n")
  .map((line) => line.split("|").map((cell) => cell.trim()))
  .filter((cells) => cells.length === 6 && cells[1]?.startsWith("`"))
  .map(([, path = "", values = "", fallback = ""]) => ({ path: path.replaceAll("`", ""), values, fallback: fallback.replaceAll("`", "") }));

const valueAt = (path: string): unknown =>
  path
    .split(".")
    .reduce<unknown>((at, key) => (typeof at === "object" && at !== null ? Reflect.get(at, key) : undefined), presets.balanced);

const figure = (bound: number | null): string[] => (bound === null ? [] : [bound.toLocaleString("en-US")]);
const toWords = ({ values, minimum, maximum, types }: PolicyParameter): string[] => [
  ...(values ?? []).map((value) => `\`${value}\``),
  ...figure(minimum),
  ...figure(maximum),
  ...(types.includes("null") ? ["null"] : []),
];

test("every parameter is documented once", () => {
  const listPaths = (entries: readonly { readonly path: string }[]): string[] => entries.map(({ path }) => path).toSorted();
  expect(listPaths(rows)).toEqual(listPaths(policyParameters()));
});

test.each(policyParameters())("$path has the bounds, the values and the default that are documented", (parameter) => {
  const row = rows.find(({ path }) => path === parameter.path);
  expect(row?.fallback).toBe(JSON.stringify(valueAt(parameter.path)));
  const missing = toWords(parameter).filter((word) => !row?.values.includes(word));
  expect(missing).toEqual([]);
});
