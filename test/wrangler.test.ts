/** What the deployment's configuration must say, as Wrangler reads it. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const toml = readFileSync(join(import.meta.dirname, "../wrangler.toml"), "utf8");

/** The lines of a table, without comments. */
const readTable = (name: string): readonly string[] => {
  const [, body = ""] = new RegExp(`^\\[${name.replace(".", "\\.")}\\]\\n((?:(?!\\[).*\\n)*)`, "m").exec(toml) ?? [];
  return body.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
};

test("no log of the platform has a URL, which may hold what a client looks for", () => {
  expect(readTable("observability")).toContain("redact_query_string = true");
  expect(readTable("observability.logs")).toContain("invocation_logs = false");
});
