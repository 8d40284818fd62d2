/** GitHub runs what a person runs before a change lands, with actions of a stated major version. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const workflow = readFileSync(join(import.meta.dirname, "..", "..", ".github", "workflows", "ci.yml"), "utf8");

test("the workflow runs .ci/run as its last step, on the project's own major version of Node", () => {
  const steps = [...workflow.matchAll(/^ {6}- (?:run|uses): (.*)$/gm)].map(([, step]) => step);
  expect(steps.at(-1)).toBe("bash .ci/run");
  expect(workflow).toMatch(/^ {10}node-version: 22$/m);
});

test("every action is pinned by its major version", () => {
  const actions = [...workflow.matchAll(/uses: (\S+)/g)].map(([, action]) => action);
  expect(actions).toEqual(["actions/checkout@v5", "actions/setup-node@v5"]);
});

test("nothing in it is what YAML forbids: tabs, or an indentation of an odd number of spaces", () => {
  expect(workflow.split("\n").filter((line) => line.includes("\t") || /^(?: {2})* \S/.test(line))).toEqual([]);
});
