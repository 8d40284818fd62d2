/** A fork of the whole session at the end of a run: its view equals the source's, and so does a replay of its log. */
import { isDeepStrictEqual } from "node:util";
import { copySession } from "../../src/app/branch/copy-session";
import type { WholeSessionApi } from "../../src/app/control-api";
import type { ForkCut } from "../../src/app/fork-parts";
import { buildRequest } from "../../src/app/request/build-request";
import type { Caller } from "../../src/app/session-api";
import { fold } from "../../src/domain/evolve";
import { createContent } from "../../src/session/content";
import { Life } from "../session/life";
import { countingIds, id } from "../support/builders";
import { MODELS } from "./profile";
import { CALLER, ObjectResetError, type World } from "./world";

const COPY = { ...CALLER, session: id("ses", 99) } as const;

export async function checkFork(world: World): Promise<void> {
  const { violations } = world;
  const source = world.wake();
  const spec = MODELS[source.runtime.state.settings.model];
  if (!spec) return;
  // No draw of the story follows. The redaction comes before the head, or before any page.
  let calls = world.random.int(1, 4);
  const before = countChanges(world);
  const copying = { to: COPY.session, at: null };
  const { copy, outcome } = await copyAgainAndAgain(world, {
    ...copying,
    source: async (work) => {
      if (--calls === 0) await redactAny(world);
      return work(source.service, CALLER);
    },
  });
  violations.check(outcome.ok, "I9", () => `the session cannot be copied: ${JSON.stringify(outcome)}`);
  // No turn is copied, and so neither is what the last one was asked with in place of the session's settings.
  const { deps, state } = source.runtime;
  const withoutTurns = createContent(deps.sql, () => ({ ...state, last_turn: null }));
  const [read, meant] = [copy.runtime.content, withoutTurns].map((content) => plain(buildRequest(content, spec)));
  const apart = (meant?.messages ?? []).findIndex((message, index) => !isDeepStrictEqual(message, read?.messages[index]));
  // While a redaction waits for its scrub, the source may compact, which the copy does not.
  const same = isDeepStrictEqual(read, meant) || countChanges(world) > before;
  violations.check(
    same,
    "I9",
    () =>
      `a copy reads other than its source, from message ${apart} on: ${JSON.stringify([meant?.messages[apart], read?.messages[apart]]).slice(0, 2_000)}`,
  );
  violations.check(isDeepStrictEqual(copy.runtime.state, fold(copy.events())), "I9", () => "a copy's state is not the fold of its log");
  const gone = new Set(world.log.redactions.goneMarks);
  const left = [...world.book.marksIn(JSON.stringify(read))].filter((mark) => gone.has(mark));
  violations.check(left.length === 0, "I31", () => `a copy sends what its source has redacted: ${left}`);
  world.stats.count("copied whole");
}

const countChanges = ({ sql }: World): number => Number(sql.all("SELECT count(*) AS n FROM events WHERE type = 'EpochChanged'")[0]?.n);

/** Redacts a message of the source while it is copied. */
async function redactAny(world: World): Promise<void> {
  const { service, runtime } = world.wake();
  const page = await service.items(CALLER, { after: null, limit: 100, order: "asc" });
  const said = page.ok ? page.value.data.filter(({ redacted }) => !redacted) : [];
  if (said.length === 0) return;
  const message = world.random.pick(said);
  const isRead = runtime.state.view.overlays.some(({ from, to }) => from <= message.position && message.position <= to);
  const asked = service.redact(CALLER, message.id);
  // The scrub of its files waits for the scheduler.
  while (world.hasNoViolation && (await world.scheduler.step())) world.log.afterStep();
  if (!world.hasNoViolation || !(await asked).ok) return;
  world.stats.count(isRead ? "redacted what a copy has a summary of" : "redacted while it is copied");
}

type Copying = Pick<Parameters<typeof copySession>[0], "source" | "to" | "at"> & { readonly cut?: ForkCut | undefined };

/** The copy's object may die between two pages, together with the request. The client then repeats the request. */
export async function copyAgainAndAgain({ random, stats }: World, { source, to, at, cut }: Copying) {
  const ids = countingIds();
  let copy = new Life(undefined, "copy", ids);
  const caller = { ...CALLER, session: to };
  const places = { from: CALLER.session, to, at, title: null, ...(cut && { cut }) };
  for (let attempt = 1; ; attempt++) {
    const target = async <T>(work: (service: WholeSessionApi, caller: Caller) => Promise<T>): Promise<T> => {
      if (attempt <= CUTS && random.chance(0.2)) {
        copy = new Life(copy.sql, `copy ${attempt}`, ids);
        throw new ObjectResetError("the copy's object was reset");
      }
      return work(copy.service, caller);
    };
    try {
      return { outcome: await copySession({ source, target, hold: async () => true, ...places }), copy };
    } catch (error) {
      if (!(error instanceof ObjectResetError)) throw error;
      stats.count("copies cut off");
    }
  }
}

/** The maximum number of interruptions of a fork. */
const CUTS = 3;

/** Without signed content, which is only sent to the model that wrote it, and without the session's own names. */
function plain({ system, messages }: ReturnType<typeof buildRequest>) {
  // A fork has its own positions, which the notices of reduced items and the labels of pinned messages contain.
  const named = (text: string): string =>
    text.replace(/\b(ses|exe)_[0-9A-Z]{26}/g, "$1").replace(/from \d+ and to \d+ has all|(?<=^Message )\d+(?=, )/gm, "");
  const shown = messages.map(({ role, parts }) => ({ role, parts: parts.filter(({ type }) => type !== "reasoning") }));
  const text = JSON.stringify(shown, (key, value: unknown) => (key === "provider_metadata" ? undefined : value));
  return { system: system && named(system), messages: JSON.parse(named(text)) as unknown[] };
}
