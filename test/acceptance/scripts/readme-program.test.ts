/** The README's first program as it is printed: its install line, its file and its command, in an empty folder beside the checkout. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { CLIENT } from "../../../scripts/client/build";
import { writeConnection } from "../../../scripts/support/connection";
import { ROOT } from "../../../scripts/support/paths";
import { findCommandBlocks } from "../../support/doc-pages";
import { findPrograms } from "../../support/doc-programs";
import { runCommands, SHELLS } from "../../support/run-commands";
import { openTenant } from "../../support/shared-server";

const MINUTES = 60_000;
const text = /^## From a program\n[\s\S]*?(?=^## )/m.exec(readFileSync(join(ROOT, "README.md"), "utf8"))?.[0] ?? "";
const section = { path: "README.md", text };
const [, file = "", command = ""] = /Save this as `([^`]+)`; `([^`]+)` runs it/.exec(text) ?? [];

/** npm sees nothing of the npm that runs this test, and nothing but this machine. */
const own = Object.entries(process.env).filter(([name]) => !/^(npm_|INIT_CWD)/.test(name));
const env = { ...Object.fromEntries(own), npm_config_offline: "true" };
const readBuild = (): number => statSync(join(CLIENT, "dist", "client.js"), { throwIfNoEntry: false })?.mtimeMs ?? 0;

let parent: string;
beforeAll(async () => {
  parent = mkdtempSync(join(tmpdir(), "longhand-readme-"));
  mkdirSync(join(parent, "longhand"));
  symlinkSync(join(ROOT, "packages"), join(parent, "longhand", "packages"));
  writeConnection(await openTenant(), join(parent, "longhand", ".longhand", "dev.json"));
}, 2 * MINUTES);
afterAll(() => rmSync(parent, { recursive: true, force: true }));

test.each(SHELLS.filter(({ missing }) => !missing))(
  "runs in an empty folder, with the client that its install line builds: $shell",
  { timeout: 2 * MINUTES },
  async ({ shell }) => {
    const cwd = join(parent, shell);
    mkdirSync(cwd);
    const before = readBuild();
    const [install] = findCommandBlocks(section);
    const installed = await runCommands(shell, [{ commands: install?.commands ?? "false" }], { cwd, env });
    expect(installed.code, installed.said).toBe(0);
    expect(readBuild()).toBeGreaterThan(before);

    writeFileSync(join(cwd, file), findPrograms(section)[0]?.code ?? "");
    const { code, said } = await runCommands(shell, [{ commands: command }], { cwd, env });

    expect(code, said).toBe(0);
    expect(said).toMatch(/^Noted: "My dog is called Rex\."/);
  },
);
