/** Every block of commands of the README and the documents can be pasted into bash and into zsh. */
import { spawnSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { findHazards } from "../support/shell-hazards";
import { readFiles } from "../support/source-files";

/** Decisions are frozen. */
const documents = readFiles(".", /\.md$/).filter(({ path }) => /^(docs\/)?[^/]+$/.test(path));

const blocks = documents.flatMap(({ path, text }) =>
  [...text.matchAll(/^```(?:sh|bash|zsh|shell)\n([\s\S]*?)^```/gm)].map((match) => ({
    where: `${path}:${text.slice(0, match.index).split("\n").length}`,
    commands: match[1] ?? "",
  })),
);

describe("a block of commands", () => {
  test("is there", () => {
    expect(new Set(blocks.map(({ where }) => where.split(":")[0]))).toEqual(new Set(["README.md", "docs/guide.md", "docs/testing.md"]));
  });

  test.each(blocks)("has nothing that a shell takes otherwise when it is pasted: $where", ({ commands }) => {
    expect(findHazards(commands)).toEqual([]);
  });

  test.each(["bash", "zsh"])("is grammatical for %s, where there is one", (shell) => {
    if (spawnSync(shell, ["-c", "true"]).status !== 0) return;
    const wrong = blocks.flatMap(({ where, commands }) => {
      const { status, stderr } = spawnSync(shell, ["-n"], { input: commands, encoding: "utf8" });
      return status === 0 ? [] : [`${where}: ${stderr}`];
    });
    expect(wrong).toEqual([]);
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
  ])("are found: %s", (commands, hazard) => {
    expect(findHazards(commands).join()).toContain(hazard);
  });

  test.each([
    'ask "$URL/v1/usage?group_by=day" -d \'{"content": "Hello! What are you? [1] # no comment"}\'',
    "SESSION=$(ask $URL/v1/sessions -d '{}' | grep -o 'ses_[0-9A-Z]*' | head -n 1)",
    "cat > file <<'END'\n# it's data?\nEND",
    'ask "$URL/v1/x?at=$(newest 1)"',
  ])("are not seen in %j", (commands) => {
    expect(findHazards(commands)).toEqual([]);
  });
});
