/** A copy of the whole session, made when nothing is left to happen: it reads what its source reads, and its log tells the same. */
import { isDeepStrictEqual } from "node:util";
import { copySession } from "../../src/app/branch/copy-session";
import { buildRequest } from "../../src/app/compaction/build-request";
import { fold } from "../../src/domain/evolve";
import { Life } from "../session/life";
import { countingIds, id } from "../support/builders";
import { MODELS } from "./profile";
import { CALLER, type World } from "./world";

const COPY = { ...CALLER, session: id("ses", 99) } as const;

export async function checkFork(world: World): Promise<void> {
  const { violations } = world;
  const source = world.wake();
  const spec = MODELS[source.runtime.state.settings.model];
  if (!spec) return;
  const copy = new Life(undefined, "copy", countingIds());
  const outcome = await copySession({
    source: (work) => work(source.service, CALLER),
    target: (work) => work(copy.service, COPY),
    from: CALLER.session,
    to: COPY.session,
    at: null,
    title: null,
  });
  violations.check(outcome.ok, "I9", () => `the session cannot be copied: ${JSON.stringify(outcome)}`);
  const [read, meant] = [copy, source].map(({ runtime }) => plain(buildRequest(runtime.content, spec)));
  const apart = (meant?.messages ?? []).findIndex((message, index) => !isDeepStrictEqual(message, read?.messages[index]));
  const same = isDeepStrictEqual(read, meant);
  violations.check(
    same,
    "I9",
    () =>
      `a copy reads other than its source, from message ${apart} on: ${JSON.stringify([meant?.messages[apart], read?.messages[apart]]).slice(0, 2_000)}`,
  );
  violations.check(
    isDeepStrictEqual(copy.runtime.store.state, fold(copy.events())),
    "I9",
    () => "a copy's state is not the fold of its log",
  );
  world.stats.count("copied whole");
}

/** Without what is signed, which goes back to nobody but whom it was signed for, and without names of the session's own. */
function plain({ system, messages }: ReturnType<typeof buildRequest>) {
  // A copy counts its own positions: the way back to what is shown as less names them.
  const named = (text: string): string =>
    text.replace(/\b(ses|exe)_[0-9A-Z]{26}/g, "$1").replace(/from \d+ and to \d+ has all/g, "has all");
  const shown = messages.map(({ role, parts }) => ({ role, parts: parts.filter(({ type }) => type !== "reasoning") }));
  const text = JSON.stringify(shown, (key, value: unknown) => (key === "provider_metadata" ? undefined : value));
  return { system: system && named(system), messages: JSON.parse(named(text)) as unknown[] };
}
