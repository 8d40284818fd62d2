/**
 * Every regular expression in `src` takes linear time on hostile text from a client, a model, a tool or a provider. The
 * test finds them by parsing the sources, so a new one is covered without being listed. An expression that only
 * receives short text may be exempted.
 */

import { describe, expect, test } from "vitest";
import { parseAst } from "vitest/node";
import { readMarkdownLines } from "../src/app/channels/text/markdown-lines";
import { splitMarkdown } from "../src/app/channels/text/split";
import { parseMarkdown } from "../src/channels/text/markdown";
import { cutToolResult } from "../src/context/cut-result";
import { escapeBrackets, escapeRules, labelEscaper, neutralize } from "../src/context/delimiters";
import { collectFileOps, fileOpsIn, withoutFileOps } from "../src/context/file-ops";
import { holds, normalize, TermCounter } from "../src/context/kept-terms";
import { askedDays } from "../src/context/recall/dates";
import { toPassages } from "../src/context/recall/passages";
import { toQuery } from "../src/context/recall/query";
import { findTermMatches, toSnippet } from "../src/context/recall/snippet";
import { splitWords } from "../src/context/recall/words";
import { redactSecrets } from "../src/context/redact-secrets";
import { parseTitle } from "../src/context/title";
import { estimateTokens } from "../src/context/tokens";
import { identifiersIn } from "../src/evaluate/identifiers";
import { findJsonFault } from "../src/http/json-check";
import { diffLines } from "../src/lib/line-diff";
import { toModelFailure } from "../src/model/classify-failure";
import { isQuestion, toTopic } from "../src/model/embedded/message-text";
import { namedCalls } from "../src/model/embedded/named-calls";
import { describeError } from "../src/model/error-body";
import { extractSummary, taggedIn, withoutTagged } from "../src/model/extract-summary";
import { normalizeFailureText } from "../src/model/failure-text";
import { readRetryDelay, readRetryWords } from "../src/model/retry-after";
import { contentWords, splitSentences } from "../src/model/text-matching";
import { hideSecret } from "../src/tools/tool-secret";
import { sized } from "./support/effort";
import { superlinear, WHOLE } from "./support/growth";
import { cook, type Recipe, recipesFor } from "./support/regex-samples";
import { readFiles, type SourceFile } from "./support/source-files";

interface Regex {
  readonly source: string;
  readonly flags: string;
}

interface Found {
  readonly path: string;
  /** Null: the expression is built at run time, from this text. */
  readonly regex: Regex | null;
  readonly text: string;
}

/** Expressions that are built at run time, with the bound of their input. */
const MADE: Readonly<Record<string, string>> = {
  'src/app/tools/usable-schema.ts new RegExp(pattern, "u")': "compiled, and never run",
  'src/context/delimiters.ts new RegExp(HIDDEN, "g")': "escapeRules, below",
  'src/context/delimiters.ts new RegExp(`[<\\\\uff1c\\\\u2039\\\\ufe64](?=${HIDDEN}(?:/${HIDDEN})?(?:${spelled}))`, "gi")':
    "neutralize, below",
  'src/context/delimiters.ts new RegExp(`^${HIDDEN}(?:${labels.map((name) => [...name].join(HIDDEN)).join("|")})${HIDDEN}[:\\\\uff1a\\\\ufe55]`, "i")':
    "labelEscaper, below",
  'src/context/kept-terms.ts new RegExp(`${LETTERS}(?:[._@:/\\\\\\\\#+-]+${LETTERS})*`, "gu")': "TermCounter.add, below",
  "src/tenant/channels/pairing-code.ts new RegExp(`^[${ALPHABET}]{${LENGTH}}$`)": "anchored, of eight characters",
  'src/context/recall/words.ts new RegExp(`[${CJK}]+|[${CLUSTERS}]+|[^${CJK}${CLUSTERS}]+`, "gu")': "splitWords, below",
  'src/context/recall/words.ts new RegExp(`^[${CJK}]`, "u")': "one character at the beginning",
  'src/context/recall/words.ts new RegExp(`^[${CLUSTERS}]`, "u")': "one character at the beginning",
  "src/domain/ids.ts new RegExp(`^${prefix}_${ULID}$`)": "a fixed length",
  'src/http/app.ts new RegExp(`^${segments.join("/")}$`)': "segments are [^/]+ between slashes: one way to read a path",
  'src/http/openai/items/item-names.ts new RegExp(`^(${PREFIXES.join("|")})_(${ULID})?(${ULID})(?:_([2-9]|[1-9]\\\\d{1,3}))?$`)':
    "every part has a length of its own, from the beginning on",
  "src/http/openai/items/item-names.ts new RegExp(`^cmp_(${ULID})(${ULID})$`)": "a fixed length",
  'src/lib/plain-line.ts new RegExp(`[${HIDDEN}]+`, "gu")': "one class of characters",
  'src/lib/plain-line.ts new RegExp(`^[^${HIDDEN}]*$`, "u")': "one class of characters, anchored",
  'src/model/embedded/named-calls.ts new RegExp(String.raw`(?<![\\p{L}\\p{N}_.-])${escaped(name)}(?![\\p{L}\\p{N}_-])`, "gu")':
    "namedCalls, below",
  'src/model/embedded/named-calls.ts new RegExp(String.raw`(?<![\\p{L}\\p{N}_])${escaped(key)}\\s*[:=]\\s*(?:"([^"]*)"|\'([^\']*)\'|([^\\s,;]+))`, "u")':
    "namedCalls, below",
};

/** Expressions that receive a limited number of characters, with that limit. */
const SHORT: Readonly<Record<string, { readonly most: number; readonly because: string }>> = {};

type Fields = Readonly<Record<string, unknown>>;
const isFields = (value: unknown): value is Fields => typeof value === "object" && value !== null;

function findExpressions({ path, text }: SourceFile): Found[] {
  const found: Found[] = [];
  const open: unknown[] = [parseAst(text, { lang: "ts" })];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (!isFields(node)) continue;
    const { type, regex, callee, start, end } = node;
    const own = text.slice(Number(start), Number(end));
    if (type === "Literal" && isFields(regex))
      found.push({ path, regex: { source: String(regex.pattern), flags: String(regex.flags) }, text: own });
    if ((type === "NewExpression" || type === "CallExpression") && isFields(callee) && callee.name === "RegExp")
      found.push({ path, regex: null, text: own });
    open.push(...Object.values(node));
  }
  return found;
}

const files = readFiles("src", /\.ts$/);
const all = files.flatMap(findExpressions);
const literals: readonly (readonly [string, Regex])[] = [
  ...new Map(all.flatMap(({ path, regex }) => (regex ? [[`${path} /${regex.source}/${regex.flags}`, regex] as const] : []))).entries(),
];

/** Reads the whole text, match after match, as `replaceAll` and `matchAll` do. A failing search reads it too. */
function readAll({ source, flags }: Regex, text: string): void {
  const every = new RegExp(source, flags.includes("g") ? flags : `${flags}g`);
  text.replaceAll(every, "");
}

/** Without a repetition that has no bound, an expression does the same work from each character on, at most. */
const isUnbounded = ({ source }: Regex): boolean => /[*+]|,\}/.test(source);

/** Of the recipes for an expression the first step tries every fourth, from another one on for each expression. */
const choose = (recipes: readonly Recipe[], { source }: Regex): readonly Recipe[] =>
  sized({ whole: recipes, small: recipes.filter((_, index) => (index + source.length) % 4 === 0 || recipes.length < 4) });

/** The largest text, in characters. Quadratic work shows at 32,768 unless it is cheap; a megabyte shows that too, and what a stack cannot hold. */
const MOST = sized({ whole: WHOLE, small: WHOLE / 32 });

/** A limit for a machine that is busy with other work. The work itself is compared with its own smaller sizes. */
const PATIENCE = { timeout: 120_000 };

describe("a regular expression", PATIENCE, () => {
  test("is found wherever it is written", () => {
    expect(literals.length).toBeGreaterThan(150);
  });

  test("that is made at run time is declared, with what bounds it", () => {
    const made = all.filter(({ regex }) => regex === null).map(({ path, text }) => `${path} ${text}`);
    expect(made.sort()).toEqual(Object.keys(MADE).sort());
  });

  test("that is declared short is there", () => {
    const names = literals.map(([name]) => name);
    expect(Object.keys(SHORT).filter((name) => !names.includes(name))).toEqual([]);
  });

  test.each(literals.filter(([, regex]) => isUnbounded(regex)))("takes linear time: %s", (name, regex) => {
    const work = (recipe: Recipe, size: number) => {
      const text = cook(recipe, size);
      return () => readAll(regex, text);
    };
    expect(superlinear(choose(recipesFor(regex.source), regex), work, SHORT[name]?.most ?? MOST)).toBeNull();
  });
});

/** Functions that receive foreign text, including those whose expressions are built at run time. */
const FUNCTIONS: Readonly<Record<string, (text: string) => unknown>> = {
  identifiersIn,
  "TermCounter.add": (text) => new TermCounter().add(text),
  "holds, of a term that was counted": (text) => {
    const counter = new TermCounter();
    counter.add(text);
    const normalized = normalize(text);
    return counter.most(3).map(({ term }) => holds(`x${normalized}x`, term));
  },
  splitWords,
  toQuery,
  toPassages,
  askedDays,
  "findMatches and toSnippet": (text) => toSnippet(text, findTermMatches(text, toQuery("when did they say a1 or 中文")), 200),
  neutralize: (text) => neutralize("transcript", text),
  escapeRules,
  labelEscaper: labelEscaper(["User", "Assistant"]),
  escapeBrackets,
  parseTitle,
  fileOpsIn,
  withoutFileOps,
  "collectFileOps, of a path": (text) => collectFileOps([{ name: "read_file", arguments: JSON.stringify({ path: text }) }]),
  cutToolResult: (text) => cutToolResult(text, { max_chars: 30_000, cut: "head_tail" }),
  redactSecrets: (text) => redactSecrets(text),
  estimateTokens,
  normalizeFailureText,
  toModelFailure: (text) => toModelFailure({ status: 400, code: null, type: null, message: text }),
  describeError,
  readRetryDelay,
  readRetryWords,
  contentWords,
  splitSentences,
  "taggedIn and withoutTagged": (text) => taggedIn(text) + withoutTagged(text),
  extractSummary: (text) => extractSummary(text, { maxTokens: 200, estimate: (said) => said.length / 4 }),
  isQuestion: (text) => isQuestion(text),
  toTopic,
  namedCalls: (text) => namedCalls(text, [{ name: "a", parameters: { type: "object", properties: { a: {}, "(": {} } } }]),
  "findFault, of JSON": (text) => findJsonFault(JSON.stringify(text)),
  readMarkdownLines,
  // Smaller than the smallest size whose time counts, so that all sizes are split.
  "splitMarkdown, into parts of 1,024": (text) => splitMarkdown(text, ({ length }) => length <= 1_024),
  "splitMarkdown, where nothing fits": (text) => splitMarkdown(text.slice(0, text.length / 8), () => false),
  parseMarkdown,
  "diffLines, with itself reversed": (text) => diffLines(text, text.split("\n").reverse().join("\n")),
  hideSecret: (text) => hideSecret(text, { header: { name: "x", value: "aaaaaaaa1-" }, value: "aaaaaaaa1-" }),
};

const TEXTS = [
  "a",
  "1",
  "a1",
  "-a",
  "a@",
  "a.",
  " ",
  "\n",
  "\n\n",
  "a\n",
  "# a\n",
  "<",
  "<a>",
  "</a>",
  "<a></a>",
  "(",
  "[",
  "[]",
  "{",
  '{"',
  '"',
  "\\",
  "\\/",
  "/",
  "=",
  "a=",
  'a="',
  "a: ",
  ": ",
  ",",
  ". ",
  "。",
  "é",
  "中",
  "あ中",
  "ก",
  "😀",
  "A. ",
  "Aa ",
  "2024-01-01 ",
  "1月",
  "call of ",
  "User: ",
  "\u200b",
  "<\u200b",
  "<transcript",
  "---\n",
  "%61",
  "aaaaaaaa",
  "\n\n<read-files>\n",
  "200 000 tokens, ",
];

describe("a function that reads foreign text", PATIENCE, () => {
  test.each(Object.entries(FUNCTIONS))("takes linear time: %s", (_, run) => {
    const work = (repeated: string, size: number) => {
      const text = cook({ before: "", repeated, after: "!" }, size);
      return () => void run(text);
    };
    expect(superlinear(TEXTS, work, MOST)).toBeNull();
  });
});
