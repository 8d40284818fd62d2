/** `npm test` in a separate checkout, beside files in which a developer has set every variable to another value. */
import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { PLAIN_VARIABLES } from "../../../scripts/support/variables";

const ROOT = join(import.meta.dirname, "..", "..", "..");
const PARTS = [
  "assets",
  "src",
  "test",
  "scripts",
  "migrations",
  "package.json",
  "package-lock.json",
  "tsconfig.json",
  "wrangler.toml",
  "vitest.config.ts",
];
const SECONDS = 180_000;

test("a developer's .dev.vars and .env do not reach the tests", { timeout: SECONDS }, () => {
  const checkout = mkdtempSync(join(tmpdir(), "longhand-variables-"));
  try {
    for (const name of PARTS) cpSync(join(ROOT, name), join(checkout, name), { recursive: true });
    symlinkSync(join(ROOT, "node_modules"), join(checkout, "node_modules"));
    const hostile = Object.keys(PLAIN_VARIABLES).map((name) => `${name}=the developer's own\n`);
    for (const file of [".dev.vars", ".env"]) writeFileSync(join(checkout, file), hostile.join(""));

    const args = [join("scripts", "run.mjs"), "test", "--project", "workers", "test/workers/variables.test.ts"];
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: checkout, encoding: "utf8", env: cleanEnvironment() });

    expect(stdout + stderr).toContain("Using secrets defined in .dev.vars");
    expect(`${stdout}${stderr}`).toMatch(/Tests .*1 passed/);
    expect(status).toBe(0);
  } finally {
    rmSync(checkout, { recursive: true, force: true });
  }
});

/** Without the variables that mark a process as a child of Vitest. */
const cleanEnvironment = (): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries({ ...process.env, NO_COLOR: "1" }).filter(([name]) => !/^(VITEST|VITE_|TEST$|FORCE_COLOR)/.test(name)));
