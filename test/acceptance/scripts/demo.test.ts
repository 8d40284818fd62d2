/** `npm run demo` as a reader of the README runs it, and the picture in the README. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { labelled, meter, span, toPlainText } from "../../../scripts/demo/line";
import { drawPicture } from "../../../scripts/demo/picture";

const ROOT = join(import.meta.dirname, "..", "..", "..");
const SECONDS = 120_000;

interface Run {
  readonly code: unknown;
  readonly out: string;
  readonly said: string;
}

async function runDemo(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Run> {
  const { FORCE_COLOR: _, NO_COLOR: __, ...rest } = process.env;
  const child = spawn(process.execPath, [join(ROOT, "scripts", "run.mjs"), "demo", ...args], { cwd: ROOT, env: { ...rest, ...env } });
  let [out, said] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    out += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    said += text;
  });
  const [code] = await once(child, "close");
  return { code, out, said };
}

/** A line without the parts that vary from run to run: figures, digests and the cells of a meter. */
const toShape = (line: string): string =>
  line
    .replace(/SHA-256 [0-9a-f]+/, "…")
    .replaceAll(/[█░]+/g, "")
    .replaceAll(/\d[\d,]*/g, "#")
    .replaceAll(/\s+/g, " ")
    .trim();

const toShapes = (text: string): readonly string[] => [...new Set(text.split("\n").map(toShape))];

/** The picture's lines of text, as they were printed. */
const readText = (svg: string): string =>
  [...svg.matchAll(/<g id[^>]*>(.*?)<\/g>/g)]
    .map(([, row = ""]) => [...row.matchAll(/<text[^>]*>(.*?)<\/text>/g)].map(([, text]) => text).join(" "))
    .join("\n")
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&amp;", "&");

/** A comma and a dot stick to what is before them, whichever span they are in. */
const joinPunctuation = (shape: string): string => shape.replaceAll(/ ([,.])/g, "$1");

const readme = readFileSync(join(ROOT, "README.md"), "utf8");

test("the README is at most 6 KB, and shows the picture", () => {
  expect(Buffer.byteLength(readme)).toBeLessThanOrEqual(6_000);
  expect(readme).toContain("](docs/images/demo.svg)");
});

describe("a run of the demo", () => {
  const temporary = mkdtempSync(join(tmpdir(), "demo-"));
  const svg = join(temporary, "demo.svg");
  let run: Run;
  beforeAll(async () => {
    run = await runDemo(["--color", "--svg", svg], { TMPDIR: temporary });
  }, SECONDS);
  afterAll(() => rmSync(temporary, { recursive: true }));
  const lines = (): readonly string[] => stripVTControlCharacters(run.out).trimEnd().split("\n");

  test("ends well, in at most forty lines, and leaves no server and no data", () => {
    expect([run.code, run.said]).toEqual([0, `Starting a server for this run …\nThe picture is in ${svg}.\n`]);
    expect(lines().length).toBeLessThanOrEqual(40);
    // The sandbox removes its directory once its server has ended.
    expect(readdirSync(temporary)).toEqual(["demo.svg"]);
  });

  test("shows the window filling, and a compaction with its gain", () => {
    expect(lines()).toContainEqual(expect.stringMatching(/^ turn 3 +█+░+ +\d+ of 2,048 tokens, \d+ %$/));
    const [, before, after] =
      /^ compaction .* ([\d,]+) → ([\d,]+) tokens, in the background after turn \d+$/m.exec(lines().join("\n")) ?? [];
    expect(Number(after?.replace(",", ""))).toBeLessThan(Number(before?.replace(",", "")));
  });

  test("shows the look-up of what left the view, the right answer, and the past request that had it", () => {
    const [question, ...rest] = lines().slice(lines().findIndex((line) => line.startsWith(" you 30")));
    expect(question).toContain("Where did Kim put the spare key?");
    expect(rest[0]).toMatch(/^ look-up +memory_query \{"query":/);
    expect(rest[1]).toMatch(/^ found +#1 user: /);
    expect(rest[2]).toMatch(/^ model +Kim put the spare key on the hook behind the blue door\.$/);
    expect(rest).toContainEqual(expect.stringMatching(/^ turn \d+ .*SHA-256 \w{8}; the key was in it$/));
    expect(rest).toContainEqual(expect.stringMatching(/^ turn 30 +a summary and .*; the key was not$/));
    expect(rest.at(-1)).toMatch(/^ record +30 of 30 messages are still there, word for word$/);
  });

  test("is coloured when that is asked for", () => {
    expect(run.out).not.toBe(stripVTControlCharacters(run.out));
  });

  test("is what it draws", () => {
    const drawn = readText(readFileSync(svg, "utf8")).split("\n");
    const printed = lines().filter((line) => line !== "");
    expect(drawn.map((line) => joinPunctuation(toShape(line)))).toEqual(printed.map((line) => joinPunctuation(toShape(line))));
  });

  test("has every line that the README quotes, figures aside", () => {
    const [, quoted = ""] = /npm run demo[\s\S]*?^```text\n([\s\S]*?)^```/m.exec(readme) ?? [];
    expect(quoted).toMatch(/ compaction [\s\S]* look-up /);
    expect(toShapes(lines().join("\n"))).toEqual(expect.arrayContaining([...toShapes(quoted.trimEnd())]));
  });

  test("has every line of the picture in the repository, figures aside", () => {
    const committed = readFileSync(join(ROOT, "docs/images/demo.svg"), "utf8");
    expect(toShapes(lines().join("\n")).map(joinPunctuation)).toEqual(
      expect.arrayContaining(toShapes(readText(committed)).map(joinPunctuation)),
    );
  });
});

describe("a wrong command line", () => {
  test(
    "is explained, and starts nothing",
    async () => {
      const { code, out, said } = await runDemo(["--colour"]);
      expect([code, out]).toEqual([1, ""]);
      expect(said).toContain("Usage: npm run demo");
      expect(said).not.toContain("Starting");
    },
    SECONDS,
  );
});

describe("the picture in the repository", () => {
  const committed = readFileSync(join(ROOT, "docs/images/demo.svg"), "utf8");

  test("is small, and narrow enough for a page", () => {
    expect(Buffer.byteLength(committed)).toBeLessThan(60_000);
    expect(Number(/<svg [^>]*width="(\d+)"/.exec(committed)?.[1])).toBeLessThanOrEqual(900);
  });

  test("runs no script and loads nothing", () => {
    expect(committed).not.toMatch(/<script|<image|<foreignObject|href=|url\(|@import|@font-face|\son\w+=/i);
  });

  test("shows its first line from the beginning, and lets each other line appear", () => {
    const animation = drawPicture([[span("one")], [], [span("three")]]).match(
      /#l\d\{animation-name:k\d\}@keyframes k\d\{0%,[\d.]+%\{opacity:0\}/g,
    );
    expect(animation?.map((rule) => rule.slice(0, 3))).toEqual(["#l1", "#l2"]);
    expect(committed.match(/@keyframes/g)?.length).toBeGreaterThan(20);
  });

  test("keeps a text that looks like markup as text", () => {
    const line = labelled("found", "lookup", span("a < b && c > d"), meter(0.5));
    expect(drawPicture([line])).toContain("a &lt; b &amp;&amp; c &gt; d</text>");
  });
});

test("a line is cut to its width", () => {
  const text = toPlainText(labelled("model", "model", span("x".repeat(200))));
  expect([text.length, text.endsWith("x…")]).toEqual([100, true]);
});
