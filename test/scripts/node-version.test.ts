/** An unusable Node is refused before 800 MB of packages are installed for it. */
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { OWN_NODE, refuseNode, runsTypeScript } from "../../scripts/support/node-version.mjs";

const ROOT = join(import.meta.dirname, "..", "..");

describe("a Node", () => {
  test.each([
    ["linux", "x64", "20.0.0"],
    ["linux", "x64", "23.1.0"],
    ["linux", "arm64", "22.18.0"],
    ["darwin", "arm64", "22.23.3"],
    ["darwin", "arm64", "23.6.0"],
    ["darwin", "x64", "26.1.0"],
  ])("is taken on %s-%s: %s", (platform, arch, version) => {
    expect(refuseNode({ platform, arch, version })).toBeNull();
  });

  test.each([
    ["linux", "x64", "18.20.0", /^Longhand needs Node 20 .* on linux-x64; this is 18\.20\.0\.$/],
    ["linux", "arm64", "20.19.0", /Node 22\.18/],
    ["darwin", "arm64", "22.17.1", /Node 22\.18/],
    // A version that strips types only behind a flag.
    ["darwin", "arm64", "23.5.0", /of 23: 23\.6/],
    ["win32", "x64", "24.0.0", /WSL/],
  ])("is refused on %s-%s: %s", (platform, arch, version, why) => {
    expect(refuseNode({ platform, arch, version })).toMatch(why);
  });
});

test("the refusal comes before anything is installed", () => {
  const checkout = mkdtempSync(join(tmpdir(), "longhand-node-"));
  try {
    mkdirSync(join(checkout, "scripts", "support"), { recursive: true });
    for (const name of ["package.json", "package-lock.json", "scripts/run.mjs", "scripts/support/node-version.mjs"])
      cpSync(join(ROOT, name), join(checkout, name));
    const elsewhere = 'data:text/javascript,Object.defineProperty(process,"platform",{value:"win32"})';
    const { status, stderr } = spawnSync(process.execPath, ["--import", elsewhere, "scripts/run.mjs", "check"], { cwd: checkout });
    expect([status, String(stderr)]).toEqual([1, expect.stringContaining("Use WSL")]);
    expect(String(stderr)).not.toContain("Installing");
    expect(existsSync(join(checkout, "node_modules"))).toBe(false);
  } finally {
    rmSync(checkout, { recursive: true, force: true });
  }
});

test("package.json brings that Node, and `engines` names the ones that run the scripts everywhere", () => {
  const { engines, optionalDependencies } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  const own = String(optionalDependencies[`node-${OWN_NODE}`]);
  expect(runsTypeScript(own)).toBe(true);
  expect(engines).toEqual({ node: "^22.18.0 || >=23.6.0" });
  const lock = JSON.parse(readFileSync(join(ROOT, "package-lock.json"), "utf8"));
  expect(lock.packages[""].engines).toEqual(engines);
});

test("no script needs a flag of Node that newer versions dropped", () => {
  expect(readFileSync(join(ROOT, "scripts", "run.mjs"), "utf8")).not.toContain("--experimental");
  expect(JSON.parse(readFileSync(join(ROOT, "tsconfig.json"), "utf8")).compilerOptions).toMatchObject({ erasableSyntaxOnly: true });
});
