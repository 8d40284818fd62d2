/** `prepare` of packages/client, which npm runs when it installs this checkout, packs the client, or installs it from its folder. */
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "..", "..");
const FILES = ["package.json", "package-lock.json", "scripts/run.mjs", "scripts/support/node-version.mjs"];

/** A checkout without packages, and an npm that only says what it was asked. */
let checkout: string;
beforeAll(() => {
  checkout = realpathSync(mkdtempSync(join(tmpdir(), "longhand-checkout-")));
  mkdirSync(join(checkout, "scripts", "support"), { recursive: true });
  for (const name of FILES) cpSync(join(ROOT, name), join(checkout, name));
  writeFileSync(
    join(checkout, "npm.js"),
    `import { writeFileSync } from "node:fs"; writeFileSync("asked", process.argv.slice(2).join(" ")); process.exit(1);\n`,
  );
});
afterAll(() => rmSync(checkout, { recursive: true, force: true }));

function prepare(prefix: string, command: string) {
  const asked = join(checkout, "asked");
  rmSync(asked, { force: true });
  const env = { PATH: process.env.PATH, npm_execpath: join(checkout, "npm.js"), npm_config_local_prefix: prefix, npm_command: command };
  const { status } = spawnSync(process.execPath, ["scripts/run.mjs", "prepare"], { cwd: checkout, env });
  return { status, asked: existsSync(asked) ? readFileSync(asked, "utf8") : null };
}

test.each(["ci", "install"])("npm %s of a checkout without tools succeeds, builds nothing and installs nothing", (command) => {
  expect(prepare(checkout, command)).toEqual({ status: 0, asked: null });
});

test.each([
  ["of another project", "/another-project", "install"],
  ["that packs the client", "", "pack"],
])("an npm %s has the tools installed first", (_, prefix, command) => {
  expect(prepare(prefix || checkout, command)).toEqual({ status: 1, asked: expect.stringContaining("--include=dev") });
});
