/** The texts by which the estimator is judged: recorded conversations, and generated ones for every kind of text that it distinguishes. */
import { readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { type Conversation, type RecordedMessage, readConversations } from "../replay/recording.ts";
import { createRandom, type Random } from "../support/random.ts";
import { minified, python, typescript } from "./code.ts";
import { base64File, compactJson, csv, digitRuns, hexDump, hexIds, prettyJson, toolOutput } from "./data.ts";
import { base62, clock, NOUNS, orderId, pick, times, type Write } from "./material.ts";
import { EMOJI, LANGUAGES, type Language, SENTENCES } from "./sentences.ts";

export interface Corpus {
  readonly name: string;
  readonly conversations: readonly Conversation[];
}

const CONVERSATIONS = 10;
const EXCHANGES = 12;

/** As long as an assistant's instructions, or shorter: the less of a request has been counted, the harder the next estimate. */
const SYSTEM = [
  "You are the assistant of a small company. Answer in the language of the person who asks, briefly and to the point.",
  "Look things up with the tools that you have before you promise anything, and never guess a price, a date or a name.",
  "If a tool fails, say so, try once more, and then offer to hand the conversation over to a colleague.",
  "Never repeat personal data that the person has not given in this conversation. Ask before you change or cancel anything.",
].join("\n");

const sentence = (random: Random, language: Language): string =>
  pick(random, SENTENCES[language])
    .replace("{n}", String(random.between(2, 40)))
    .replace("{time}", clock(random))
    .replace("{id}", orderId(random));

/** Chinese, Japanese and Thai put no space between sentences, or a different one. */
const joint = (language: Language): string => (language === "Chinese" || language === "Japanese" ? "" : " ");

const paragraph = (random: Random, language: Language, [least, most]: readonly [number, number]): string =>
  times(random.between(least, most), () => sentence(random, language)).join(joint(language));

type Speak = (random: Random, sentences: readonly [number, number]) => string;

const speakIn =
  (language: Language): Speak =>
  (random, sentences) =>
    paragraph(random, language, sentences);

/** Every message is in one to three languages. */
const speakInMany: Speak = (random, [least, most]) => {
  const spoken = times(random.between(1, 3), () => pick(random, LANGUAGES));
  return times(random.between(least, most), () => sentence(random, pick(random, spoken))).join(" ");
};

/** Every sentence ends with a few emoji. */
const speakWithEmoji: Speak = (random, [least, most]) =>
  times(
    random.between(least, most),
    () =>
      `${sentence(random, "English").slice(0, random.between(20, 80))} ${times(random.between(1, 5), () => pick(random, EMOJI)).join("")}`,
  ).join(" ");

const emojiOnly: Write = (random) => times(random.between(10, 120), () => pick(random, EMOJI)).join(pick(random, ["", " "]));

/** A conversation between people: short questions, longer answers. */
const talk =
  (speak: Speak) =>
  (random: Random): RecordedMessage[] => [
    { role: "user", content: speak(random, [1, 3]) },
    { role: "assistant", content: speak(random, [2, 8]) },
  ];

/** A question, one to three calls, in sequence or in parallel, and an answer. The results contain the corpus's kind of text. */
const work =
  (write: Write) =>
  (random: Random): RecordedMessage[] => {
    const rounds = times(random.between(1, 2), () => round(random, write)).flat();
    return [
      { role: "user", content: paragraph(random, "English", [1, 2]) },
      ...rounds,
      { role: "assistant", content: paragraph(random, "English", [1, 4]) },
    ];
  };

function round(random: Random, write: Write): RecordedMessage[] {
  const calls = times(random.between(1, 2), () => ({
    id: `call_${base62(random, 24)}`,
    name: `get_${pick(random, NOUNS)}`,
    arguments: JSON.stringify({ [`${pick(random, NOUNS)}_id`]: orderId(random), limit: random.between(1, 50) }),
  }));
  const results = calls.map(({ id }): RecordedMessage => ({ role: "tool", tool_call_id: id, content: write(random) }));
  return [{ role: "assistant", content: null, tool_calls: calls }, ...results];
}

/** The corpus's kind of text is in a message: pasted by the user or written by the model. */
const paste =
  (write: Write) =>
  (random: Random): RecordedMessage[] => [
    { role: "user", content: `${paragraph(random, "English", [1, 2])}\n\n${write(random)}` },
    { role: "assistant", content: `${paragraph(random, "English", [1, 2])}\n\n${write(random)}` },
  ];

type Exchange = (random: Random) => RecordedMessage[];

const KINDS: readonly (readonly [name: string, exchange: Exchange])[] = [
  ...LANGUAGES.map((language) => [language, talk(speakIn(language))] as const),
  ["TypeScript", paste((random) => `\`\`\`ts\n${typescript(random)}\`\`\``)],
  ["Python", paste((random) => `\`\`\`python\n${python(random)}\`\`\``)],
  ["minified JS", work(minified)],
  ["JSON, indented", work(prettyJson)],
  ["JSON, compact", work(compactJson)],
  ["base64", work(base64File)],
  ["hexadecimal", work(hexDump)],
  ["ids and hashes", work(hexIds)],
  ["digits", work(digitRuns)],
  ["CSV", work(csv)],
  ["emoji in talk", talk(speakWithEmoji)],
  ["emoji alone", paste(emojiOnly)],
  ["mixed results", work(toolOutput)],
  ["mixed languages", talk(speakInMany)],
];

export const CORPUS_NAMES: readonly string[] = KINDS.map(([name]) => name);

/** The result depends on the seed alone, not on which corpora are requested. */
export const generateCorpora = (seed: number, names: readonly string[] = CORPUS_NAMES): Corpus[] =>
  KINDS.flatMap(([name, exchange], kind) => {
    if (!names.includes(name)) return [];
    const createRandomAt = (index: number): Random => createRandom(seed + 1_000 * kind + index);
    return [{ name, conversations: times(CONVERSATIONS, (index) => converse(createRandomAt(index), exchange, index)) }];
  });

const converse = (random: Random, exchange: Exchange, index: number): Conversation => ({
  id: `generated-${index}`,
  system: SYSTEM,
  messages: times(EXCHANGES, () => exchange(random)).flat(),
});

const MOST_CONVERSATIONS = 10_000;

/** One corpus for each recording in `folder`. Its conversations share the system prompt of the first one that has one. */
export const readCorpora = (folder: string): Corpus[] =>
  readdirSync(folder)
    .filter((name) => name.endsWith(".jsonl"))
    .sort()
    .map((file) => {
      const recorded = readConversations(join(folder, file), MOST_CONVERSATIONS);
      const system = recorded.find((conversation) => conversation.system)?.system ?? null;
      return { name: basename(file, ".jsonl"), conversations: recorded.map((conversation) => ({ ...conversation, system })) };
    });
