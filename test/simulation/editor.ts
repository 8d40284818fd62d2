/**
 * A person who works with drafts: requests one, reads it, edits it, commits or discards it, sometimes late or at the
 * same time as another person.
 */

import type { WholeSessionApi } from "../../src/app/control-api";
import type { Outcome } from "../../src/app/session-api";
import type { CompactionView } from "../../src/contract/compaction";
import type { CompactionId } from "../../src/domain/ids";
import { id } from "../support/builders";
import { attempt } from "./keeper";
import { CALLER, type World } from "./world";

/** How often a person returns to a draft. */
const PATIENCE = 5;

export async function handleDraft(world: World): Promise<void> {
  const { random, scheduler, clients } = world;
  const chosen = (await findDraft(world)) ?? (await ask(world));
  for (let round = 0; chosen && round < PATIENCE; round++) {
    await scheduler.sleep(clients, random.int(0, 1_500), "thinks about a draft");
    const read = await attempt(world, "read", (service) => service.compaction(CALLER, chosen));
    if (!read?.ok) return;
    if (read.value.status === "drafted" || random.chance(0.1)) await handle(world, read.value);
    else if (read.value.finished_at !== null) return;
  }
}

/** An open draft, or sometimes one that is closed. */
async function findDraft(world: World): Promise<CompactionId | null> {
  const page = { after: null, limit: 5, order: "desc" } as const;
  const listed = await attempt(world, "compactions", (service) => service.compactions(CALLER, page));
  const drafts = (listed?.ok ? listed.value.data : []).filter(({ draft }) => draft !== null);
  return (drafts.find(({ status }) => status === "drafted") ?? (world.random.chance(0.1) ? drafts[0] : undefined))?.id ?? null;
}

async function ask(world: World): Promise<CompactionId | null> {
  const { random } = world;
  const input = {
    dryRun: false,
    keepRecent: random.pick([null, 256, 1_000]),
    upTo: null,
    instructions: null,
    draft: true,
    ...(random.chance(0.4) && { rebuild: true, keepRecent: null }),
    ...(random.chance(0.2) && { model: random.pick(["big", "small"]) }),
    idempotency: null,
  };
  const asked = await attempt(world, "ask for a draft", (service) => service.compact(CALLER, input));
  world.stats.count(`draft: ${asked === null ? "unanswered" : asked.ok ? asked.value.kind : asked.error.code}`);
  return asked?.ok && asked.value.kind === "requested" ? asked.value.compaction.id : null;
}

async function compare(world: World, b: CompactionId): Promise<void> {
  const { random, stats } = world;
  const questions = Array.from({ length: random.int(0, 3) }, (_, n) => ({
    question: `What of ${n}?`,
    expect: random.pick([null, "a talk"]),
  }));
  const input = { a: random.chance(0.2) ? ("current" as const) : b, b, questions, model: random.pick([null, "big", "gone"]) };
  const compared = await attempt(world, "compare", (service) => service.compareSummaries(CALLER, input));
  stats.count(`compare: ${compared === null ? "unanswered" : compared.ok ? "done" : compared.error.code}`);
}

/** A person edits only a draft that they have read. */
async function handle(world: World, { id: compaction, summary, draft }: CompactionView): Promise<void> {
  const { random, stats } = world;
  // A draft without a summary cannot be compared, and is refused.
  if (random.chance(summary === null ? 0.1 : 0.9)) await compare(world, compaction);
  const edits = draft?.edits ?? 0;
  const by = id("key", random.int(1, 2));
  const action = random.weighted({ edit: summary === null ? 0 : 3, commit: 4, discard: 1, leave: 1 });
  const actions: Record<typeof action, (service: WholeSessionApi) => Promise<Outcome<unknown>>> = {
    // The mark by which the book of summaries identifies it stays at the beginning.
    edit: (service) => service.editDraft(CALLER, { compaction, summary: `${summary} Changed by hand, ${edits + 1} times.`, edits, by }),
    commit: (service) => service.commitDraft(CALLER, { compaction, edits: random.pick([null, edits]), idempotency: null }),
    discard: (service) => service.discardDraft(CALLER, compaction),
    leave: (service) => service.compaction(CALLER, compaction),
  };
  const answer = await attempt(world, action, actions[action]);
  stats.count(`${action} a draft: ${answer === null ? "unanswered" : answer.ok ? "done" : answer.error.code}`);
}
