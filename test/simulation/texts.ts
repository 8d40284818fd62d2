/** Texts of several kinds and any length, cut from a corpus that is the same in every run. */
import type { Random } from "./random";

const LENGTH = 120_000;

function build(words: readonly string[], joint: string): string {
  const parts: string[] = [];
  let length = 0;
  for (let n = 0; length < LENGTH; n++) {
    const word = words[(n * 7 + ((n * n) % 11)) % words.length] ?? "";
    parts.push(word);
    length += word.length + joint.length;
  }
  return parts.join(joint);
}

const corpora = [
  build(["the", "plan", "changes", "nothing", "about", "window", "seats", "before", "Friday", "and", "Ada", "agreed,"], " "),
  build(['{"id":4711,"ok":true}', '{"name":"Ünal","tags":["a","b"]}', '{"amount":12.50,"currency":"EUR"}'], ",\n"),
  build(["我们", "明天", "出发", "。", "座位", "已经", "确认"], ""),
  build(["const x = await read();", "if (!x) return null;", "// nothing to do", "export { x };"], "\n"),
  build(["😀", "ok", "👍🏽", "see you"], " "),
];

/** A text of `from` to `to` characters. */
export function drawText(random: Random, from: number, to: number): string {
  const corpus = corpora[random.chance(0.6) ? 0 : random.int(1, corpora.length - 1)] ?? "";
  const length = random.int(Math.floor(from), Math.max(Math.floor(from), random.chance(0.5) ? Math.ceil(to / 4) : to));
  const start = random.int(0, LENGTH / 2 - 1);
  return corpus.slice(start, start + length).toWellFormed();
}

const LETTERS = "bcdfghjlmp";

/** A word that only one text has, made of letters, so that no language's rules divide or shorten it. `kind`: its first letter. */
export const toOwnWord = (kind: "q" | "z", number: number): string =>
  `${kind}x${[...String(number)].map((digit) => LETTERS[Number(digit)]).join("")}k`;
