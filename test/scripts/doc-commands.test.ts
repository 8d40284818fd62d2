/** Every block of commands in the documentation can be pasted into bash and into zsh. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { findCommandBlocks, readPages } from "../support/doc-pages";
import { SHELLS } from "../support/run-commands";
import { findHazards } from "../support/shell-hazards";

const blocks = readPages().flatMap(findCommandBlocks);
const manifest = readFileSync(join(import.meta.dirname, "..", "..", "package.json"), "utf8");
const { scripts } = z.object({ scripts: z.record(z.string(), z.string()) }).parse(JSON.parse(manifest));

/** The blocks that the shell cannot parse. One small process starts a shell for each, because starting them from this large one takes long. */
function findUngrammatical(shell: string): readonly string[] {
  const folder = mkdtempSync(join(tmpdir(), "longhand-blocks-"));
  try {
    for (const [index, { commands }] of blocks.entries()) writeFileSync(join(folder, `${index}.sh`), commands);
    const each = 'for file do "$0" -n "$file" || echo "wrong: $file"; done';
    const names = blocks.map((_, index) => `${index}.sh`);
    const { status, stdout, stderr } = spawnSync("sh", ["-c", each, shell, ...names], { cwd: folder, encoding: "utf8" });
    expect(status, stderr).toBe(0);
    const wrong = [...stdout.matchAll(/^wrong: (\d+)\.sh$/gm)].map(([, index]) => blocks[Number(index)]);
    return wrong.map((block) => `${block?.page}:${block?.line}: ${stderr}`);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

describe("a block of commands", () => {
  test.each(blocks)("has nothing that a shell takes otherwise when it is pasted: $page:$line", ({ commands }) => {
    expect(findHazards(commands)).toEqual([]);
  });

  describe.each(SHELLS)("in $shell (skipped where it is not installed)", ({ shell, missing }) => {
    test.skipIf(missing)("is grammatical", () => {
      expect(findUngrammatical(shell)).toEqual([]);
    });
  });

  test("calls no npm script that is not there", () => {
    const called = blocks.flatMap(({ commands }) => [...commands.matchAll(/\bnpm (?:run )?([\w-]+)/g)].map(([, name = ""]) => name));
    expect(called.filter((name) => !["ci", "install"].includes(name) && scripts[name] === undefined)).toEqual([]);
  });
});

describe("the hazards", () => {
  test.each([
    ["npm start   # installs what is missing", "a comment"],
    ["# the developer's key", "a comment"],
    ["ask $URL/v1/usage?group_by=day", "a glob"],
    ["ask $URL/v1/usage -d {a,[b]}", "a glob"],
    ['echo "Hello!World"', "an exclamation mark"],
    ["echo it's", "a single that is open"],
    ['echo "$(ask \'a)"', "a single that is open"],
    ["which =ls", "expanded by zsh"],
    ["USERNAME=your_bot", "a parameter of zsh"],
    ["path=/v1/sessions", "a parameter of zsh"],
  ])("are found: %s", (commands, hazard) => {
    expect(findHazards(commands).join()).toContain(hazard);
  });

  test.each([
    'ask "$URL/v1/usage?group_by=day" -d \'{"content": "Hello! What are you? [1] # no comment"}\'',
    "SESSION=$(ask $URL/v1/sessions -d '{}' | grep -o 'ses_[0-9A-Z]*' | head -n 1)",
    "cat > file <<'END'\n# it's data?\nEND",
    'ask "$URL/v1/x?at=$(newest 1)"',
    "BOT_USERNAME=your_bot",
  ])("are not seen in %j", (commands) => {
    expect(findHazards(commands)).toEqual([]);
  });
});
