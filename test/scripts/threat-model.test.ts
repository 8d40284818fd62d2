/** The threat model in SECURITY.md: every component has an answer to each letter of STRIDE, and each row names a test that is there. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "..", "..");
const COMPONENTS = ["Worker", "session object", "tenant object", "D1", "queue", "R2", "provider calls", "tools", "browser tokens"];
const LETTERS = ["S", "T", "R", "I", "D", "E"];

interface Row {
  readonly component: string;
  readonly letters: readonly string[];
  readonly control: string;
  readonly tests: readonly string[];
}

const rows: readonly Row[] = readFileSync(join(ROOT, "SECURITY.md"), "utf8")
  .split("\n")
  .filter((line) => /^\| .* \| [STRIDE](?:, [STRIDE])*: /.test(line))
  .map((line) => {
    const [component = "", threat = "", control = "", shown = ""] = line
      .split("|")
      .slice(1)
      .map((cell) => cell.trim());
    const letters = (threat.split(":")[0] ?? "").split(", ");
    return { component, letters, control, tests: [...shown.matchAll(/`([^`]+)`/g)].map(([, path = ""]) => path) };
  });

describe("the threat model", () => {
  test("is about the components, in their order", () => {
    expect([...new Set(rows.map(({ component }) => component))]).toEqual(COMPONENTS);
  });

  test.each(COMPONENTS)("answers each kind of threat: %s", (component) => {
    const answered = rows.filter((row) => row.component === component).flatMap(({ letters }) => letters);
    expect(LETTERS.filter((letter) => !answered.includes(letter))).toEqual([]);
  });

  test("names a control and tests that are there in each row", () => {
    const faults = rows.flatMap(({ component, letters, control, tests }) => {
      const missing = tests.filter((path) => !path.startsWith("test/") || !existsSync(join(ROOT, path)));
      return control === "" || tests.length === 0 || missing.length > 0 ? [`${component} ${letters}: ${missing}`] : [];
    });
    expect(faults).toEqual([]);
  });
});
