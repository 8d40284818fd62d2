/**
 * I34: once the rows have followed the session, a search over the tenant's sessions finds what the record has and shows, and
 * nothing that was redacted, erased, cancelled or left on another branch. Each text has a word that no other text has.
 */
import type { DisplayItem } from "../../src/contract/item";
import type { FoundSession } from "../../src/contract/session-search";
import { createSessionSearch } from "../../src/read-model/session-search";
import { readRanges } from "../../src/session/log/log-tables";
import { ALL_SESSIONS } from "../read-model/builders";
import type { Send } from "./send";
import { toOwnWord } from "./texts";
import { CALLER, type World } from "./world";

/** The most words that one run looks for, of each kind. */
const SAMPLES = 5;
/** The beginning of a message that can be found, as docs/finding-sessions.md says it. */
const SEARCHED = 10_000;

const toWord = ({ text }: Send): string => text.split(" ")[1] ?? "";

async function search({ d1 }: World, query: string): Promise<readonly FoundSession[]> {
  const { searchSessions } = createSessionSearch({ DB: d1.direct });
  const found = await searchSessions({ tenant: CALLER.tenant, query, filter: ALL_SESSIONS, limit: 20, after: null });
  if (!found.ok) throw new TypeError("a search without a cursor was refused");
  return found.value.data;
}

/** What people read of the current branch. */
async function readShown(world: World): Promise<readonly DisplayItem[]> {
  const { service } = world.wake();
  const shown: DisplayItem[] = [];
  for (let after: number | null = null; ; ) {
    const page = await service.items(CALLER, { after, limit: 100, order: "asc" });
    if (!page.ok) throw new TypeError(`a list of messages was answered ${JSON.stringify(page)}`);
    shown.push(...page.value.data);
    if (!page.value.has_more) return shown;
    after = shown.at(-1)?.position ?? null;
  }
}

const toSaidText = ({ role, content }: DisplayItem): string =>
  role === "tool"
    ? ""
    : content
        .flatMap((part) => (part.type === "text" ? [part.text] : []))
        .join("\n")
        .slice(0, SEARCHED);

export async function checkSearch(world: World, sends: readonly Send[]): Promise<void> {
  const said = (await readShown(world)).map((item) => ({ id: item.id, text: toSaidText(item) }));
  for (const word of chooseWords(world, { sends, said: said.map(({ text }) => text) })) {
    const wanted = said.filter(({ text }) => text.includes(word)).map(({ id }) => id);
    const found = (await search(world, word)).flatMap(({ matches }) => matches);
    const ids = found.map(({ id }) => id);
    const same = ids.length === wanted.length && ids.every((id) => wanted.includes(id));
    world.violations.check(same, "I34", () => `a search for ${word} finds ${ids}, and the record has it in ${wanted}`);
    const shows = found.every(({ snippet }) => snippet.includes(word));
    world.violations.check(shows, "I34", () => `a search for ${word} shows ${JSON.stringify(found)}`);
    world.stats.count(wanted.length > 0 ? "searches that found" : "searches that found nothing");
  }
}

/** What a retry took back is read by no summary, and found by no look-up. */
export async function checkTakenBack(world: World): Promise<void> {
  const { service, runtime } = world.wake();
  const { branch, next_position } = runtime.state;
  const gone = readRanges(runtime.deps.sql, branch.taken_back);
  const read = new Set([...runtime.content.readForwards({ from: 1, to: next_position - 1 })].map(({ meta }) => meta.id));
  const left = gone.filter(({ id }) => read.has(id)).map(({ position }) => position);
  world.violations.check(left.length === 0, "I11", () => `a summary would read ${left}, which a retry took back`);
  for (const { parts } of runtime.content.readShown(gone)) {
    const word = parts.flatMap((part) => (part.type === "text" ? (/^@\d+ (\S+)/.exec(part.text)?.[1] ?? []) : []))[0];
    if (word === undefined) continue;
    const found = await service.recall(CALLER, { query: word, execution: null, from: null, to: null, offset: 0, limit: 20 });
    const ids = found.ok ? found.value.data.map(({ id }) => id) : [];
    world.violations.check(!gone.some(({ id }) => ids.includes(id)), "I11", () => `a look-up for ${word} finds what a retry took back`);
    world.stats.count("look-ups for what was taken back");
  }
}

/** Words of messages, of replies and of redacted texts. */
function chooseWords(world: World, { sends, said }: { readonly sends: readonly Send[]; readonly said: readonly string[] }): Set<string> {
  const own = sends.map(toWord);
  const replied = said.flatMap((text) => /^@\d+ (\S+)/.exec(text)?.[1] ?? []);
  const gone = world.log.redactions.goneMarks.map((mark) =>
    toOwnWord(mark.startsWith("@") ? "z" : "q", Number.parseInt(mark.slice(1), 10)),
  );
  if (gone.length > 0) world.stats.count("searches for redacted words");
  return new Set([own, replied, gone].flatMap((words) => sample(words)));
}

/** Evenly along the list, with the last one. */
function sample(words: readonly string[]): readonly string[] {
  const step = Math.max(1, Math.floor(words.length / SAMPLES));
  return words.filter((_, index) => (words.length - 1 - index) % step === 0);
}

/** After an erasure. */
export async function checkNothingFound(world: World, sends: readonly Send[]): Promise<void> {
  for (const word of sample(sends.map(toWord))) {
    const found = await search(world, word);
    world.violations.check(found.length === 0, "I34", () => `a search for ${word} finds an erased session`);
  }
}
