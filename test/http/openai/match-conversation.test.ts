/** Where an input that repeats a conversation goes on in it. Pure, for random conversations. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { CopiedItem, copyItem } from "../../../src/http/openai/items/copied-item";
import { parseItemName } from "../../../src/http/openai/items/item-names";
import { toOpenAiItems } from "../../../src/http/openai/items/items";
import { readInputItems } from "../../../src/http/openai/items/read-items";
import { compareInput, type FileNames, splitInput } from "../../../src/http/openai/responses/match-conversation";
import { type Call, conversation, type Said, type Shown, show } from "./random-conversation";

const NEXT = { type: "message", role: "user", content: "What next?" };
const LONG = 1_000;
/** A session that keeps only the beginning of a long output. */
const cut = (output: string): string => output.slice(0, LONG);

const nameFile = (part: object): FileNames =>
  ["url" in part ? part.url : null, "file_id" in part ? part.file_id : null].flatMap((name) => (typeof name === "string" ? [name] : []));

/** The last reply, and conversations that have one. */
const findLast = (said: readonly Said[]): number => said.findLastIndex(({ role }) => role === "assistant");
const answered = conversation.filter((said) => findLast(said) >= 0);

/** The messages up to the last reply and its results, as a client that has them sends them. */
function repeat(shown: Shown, byName: (nth: number) => boolean): unknown[] {
  const items = toOpenAiItems(shown.messages, shown);
  const last = items.findLastIndex((item) => item.type !== "message" || item.role === "assistant");
  return items.slice(0, last + 1).map((item, nth) => (byName(nth) ? refer(shown, item.id) : item));
}

function refer({ messages, ranHere, session }: Shown, given: string): CopiedItem {
  const name = parseItemName(given);
  const message = messages.find(({ id, tool_calls = [] }) => id === name?.id || tool_calls.some((call) => call.id === name?.id));
  if (!name || !message) throw new Error("the conversation has no such item");
  const ran_here = (message.tool_calls ?? []).map(({ execution_id }) => execution_id).filter((id) => ranHere.has(id));
  const results = messages.filter(({ execution_id, role }) => role === "tool" && execution_id && ran_here.includes(execution_id));
  const copied = copyItem({ message, branch: 1, is_there: false, ran_here, approvals: [], results, reply: null, redacted: [] }, name);
  if (copied === "none") throw new Error("the item says nothing");
  return new CopiedItem({ session, message: message.id, branch: 1, copied, approved: null });
}

interface Compared {
  readonly input: readonly unknown[];
  readonly known: Shown;
  /** How many messages were read. Absent: all. */
  readonly read?: number;
}

function compare({ input, known, read = known.messages.length }: Compared) {
  const parsed = readInputItems([...input, NEXT], "input");
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.error));
  const repeated = splitInput(parsed.value, nameFile);
  if (!repeated) throw new Error("the input has no word of the model");
  const messages = known.messages
    .slice(0, read)
    .map((message) =>
      message.role === "tool"
        ? { ...message, content: message.content.map((part) => ("text" in part ? { ...part, text: cut(part.text) } : part)) }
        : message,
    );
  const compared = compareInput(repeated, { ...known, messages, nameFile, cut }, read === known.messages.length);
  return { ...compared, rest: repeated.rest };
}

/** The messages of a session that has gone on behind the last reply, or has not. */
const extend = (said: readonly Said[], more: readonly Said[]): readonly Said[] => [
  ...said,
  ...more.filter((_, index) => index > 0 || said.at(-1)?.role !== more[0]?.role),
];
const mixed = fc.infiniteStream(fc.boolean());
const lastReply = ({ messages }: Shown, said: readonly Said[]): number => {
  const nth = said.slice(0, findLast(said) + 1).filter(({ role }) => role === "assistant").length;
  return messages.findIndex((message) => message === messages.filter(({ role }) => role === "assistant")[nth - 1]);
};

describe("a conversation that an input repeats", () => {
  it("is found at its last reply, by names and in full, and what is new follows", () => {
    fc.assert(
      fc.property(answered, mixed, conversation, (said, byName, more) => {
        const shown = show(said);
        const names = [...byName.take(200)];
        const found = compare({ input: repeat(shown, (nth) => names[nth] ?? false), known: show(extend(said, more)) });

        expect(found).toMatchObject({ outcome: "same", nth: lastReply(shown, said) });
        expect(found.rest.at(-1)).toMatchObject({ role: "user", parts: [{ part: { text: "What next?" } }] });
        const client = said[findLast(said)]?.calls.filter(({ isServer, output }) => !isServer && output !== null) ?? [];
        const results = found.outcome === "same" ? found.results : [];
        expect(results.map(({ result }) => result.output)).toEqual(client.map(({ output }) => output));
      }),
    );
  });

  it("is found page by page", () => {
    fc.assert(
      fc.property(answered, (said) => {
        const known = show(said);
        const input = repeat(known, () => true);
        const outcomes = known.messages.map((_, read) => compare({ input, known, read: read + 1 }).outcome);

        expect(outcomes.at(-1)).toBe("same");
        expect(outcomes).not.toContain("differs");
      }),
    );
  });

  it("is never found with any word, file, speaker, call or earlier result changed", () => {
    fc.assert(
      fc.property(answered, fc.nat(), fc.nat(), (said, at, which) => {
        const last = findLast(said);
        const nth = at % (last + 1);
        const changed = said.flatMap((each, index) => (index === nth ? change(each, which, index === last) : [each]));
        const input = repeat(show(changed), () => false);
        fc.pre(JSON.stringify(changed) !== JSON.stringify(said) && findLast(changed) >= 0);

        expect(compare({ input, known: show(said) }).outcome).not.toBe("same");
      }),
    );
  });

  it("is never found from a later message on", () => {
    fc.assert(
      fc.property(answered, (said) => {
        fc.pre(said.slice(1).some(({ role }) => role === "assistant"));
        const later = said[1]?.role === "assistant" ? said.slice(2) : said.slice(1);
        fc.pre(findLast(later) >= 0 && JSON.stringify(later) !== JSON.stringify(said.slice(0, later.length)));
        const input = repeat(show(said), () => false);
        const cutOff = input.slice(input.length - repeat(show(later), () => false).length);
        fc.pre(cutOff.length > 0);

        expect(compare({ input: cutOff, known: show(said) }).outcome).not.toBe("same");
      }),
    );
  });
});

/** One change of the message, so that it says something else. Empty: it is left out. */
function change(said: Said, which: number, isLast: boolean): Said[] {
  const { role, content, calls } = said;
  const texts = content.flatMap((part, index) => (part.type === "text" ? [index] : []));
  const files = content.flatMap((part, index) => (part.type === "image" || part.type === "file" ? [index] : []));
  // The results of the last reply's calls are what is new.
  const compared = calls.flatMap(({ output, isServer }, index) => (output !== null && (isServer || !isLast) ? [index] : []));
  const withCall = (index: number, changes: Partial<Call>): Said => ({
    ...said,
    calls: calls.map((each, at) => (at === index ? { ...each, ...changes } : each)),
  });
  const withPart = (index: number, changes: object): Said => ({
    ...said,
    content: content.map((part, at) => (at === index ? { ...part, ...changes } : part)),
  });
  const changes: Said[][] = [
    ...texts.map((index) => [withPart(index, { text: `${content[index]?.text} word` })]),
    ...files.map((index) => [withPart(index, { url: "https://example.com/other.png", file_id: undefined, media_type: "image/png" })]),
    ...calls.map((_, index) => [withCall(index, { name: "other" })]),
    ...compared.map((index) => [withCall(index, { output: `word ${calls[index]?.output}` })]),
    ...(role === "user" && files.length === 0 ? [[{ ...said, role: "system" as const }]] : []),
    ...(role === "system" ? [[{ ...said, role: "user" as const }]] : []),
    ...(role === "assistant" ? [] : [[said, said], []]),
  ];
  return changes[which % changes.length] ?? [said];
}
