/**
 * The programs of docs/api: each page has one, which compiles strictly against the client's built types, runs as it is shown
 * against a running backend, prints what the page shows, and leaves the tenant's settings as they were.
 */
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { buildClient, CLIENT } from "../../../scripts/client/build";
import { writeConnection } from "../../../scripts/support/connection";
import { readPages } from "../../support/doc-pages";
import { findPrograms, hideVariables, type Program } from "../../support/doc-programs";
import { openTenant } from "../../support/shared-server";
import { readTenantSettings } from "../../support/tenant-settings";

const ROOT = join(import.meta.dirname, "..", "..", "..");
const MINUTES = 60_000;
const MOST_LINES = 40;
const COMPILER_OPTIONS = {
  strict: true,
  noUncheckedIndexedAccess: true,
  exactOptionalPropertyTypes: true,
  target: "es2023",
  module: "nodenext",
  types: ["node"],
  noEmit: true,
};

/** The page for browsers has a server and a page, which browser-page.test opens. */
const pages = readPages().filter(({ path }) => path.startsWith("docs/api/") && path !== "docs/api/browser-page.md");
const programs = pages.flatMap(findPrograms).filter(({ language }) => language === "ts");
/** The README's program runs in readme-program.test. */
const compiled = [
  ...programs,
  ...readPages()
    .filter(({ path }) => path === "README.md")
    .flatMap(findPrograms),
];
const nameFile = ({ page }: Program): string => basename(page, ".md");

let folder: string;

/** A reader's folder has the client as a package, and Node's types. */
beforeAll(async () => {
  await buildClient();
  folder = mkdtempSync(join(tmpdir(), "longhand-programs-"));
  mkdirSync(join(folder, "node_modules"));
  symlinkSync(CLIENT, join(folder, "node_modules", "longhand"));
  for (const name of ["@types", "undici-types"]) symlinkSync(join(ROOT, "node_modules", name), join(folder, "node_modules", name));
}, 3 * MINUTES);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("a page of docs/api", () => {
  test.each(pages)("has one program, and shows what it prints: $path", (page) => {
    expect(findPrograms(page).map(({ output }) => typeof output)).toEqual(["string"]);
  });

  test.each(programs)("has a program of at most 40 lines: $page", ({ code }) => {
    expect(code.trimEnd().split("\n").length).toBeLessThanOrEqual(MOST_LINES);
  });
});

describe("the programs of docs/api", () => {
  test(
    "compile strictly against the built client",
    async () => {
      for (const program of compiled) writeFileSync(join(folder, `${program.page.replaceAll("/", "-")}.mts`), program.code);
      writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions: COMPILER_OPTIONS, include: ["*.mts"] }));
      const compiler = join(ROOT, "node_modules", "typescript", "bin", "tsc");
      // A process that waits without turning does not see that the server closes idle connections, and uses one of them next.
      const { stdout } = spawn(process.execPath, [compiler, "-p", folder], { stdio: ["ignore", "pipe", "inherit"] });
      expect(await text(stdout)).toBe("");
    },
    MINUTES,
  );

  test.each(programs)(
    "print what the page shows, and put back what they changed: $page",
    async (program) => {
      const home = mkdtempSync(join(folder, `${nameFile(program)}-`));
      const connection = await openTenant();
      const before = await readTenantSettings(connection);
      writeConnection(connection, join(home, ".longhand", "dev.json"));
      // Without annotations of types, a program is JavaScript too, which every Node runs.
      writeFileSync(join(home, "program.mjs"), program.code);
      const child = spawn(process.execPath, ["program.mjs"], { cwd: home, stdio: ["ignore", "pipe", "pipe"] });
      const [said, wrong] = await Promise.all([text(child.stdout), text(child.stderr)]);
      expect(wrong).toBe("");
      expect(hideVariables(said).trimEnd()).toBe(hideVariables(program.output ?? "").trimEnd());
      expect(await readTenantSettings(connection)).toEqual(before);
    },
    MINUTES,
  );
});
