/** Sessions in this process whose compactions are worked off as the queue's consumer does, or wait until the test lets them. */
import { runCompaction } from "../../../src/app/compaction/run-compaction";
import type { ModelRequest } from "../../../src/app/ports";
import type { CompactionId, SessionId } from "../../../src/domain/ids";
import { SUMMARY } from "../../session/talk";
import { TENANT, type WorldInput } from "../support";
import { connect, says, show } from "./response-life";

const QUIET = { info: () => {}, warn: () => {}, error: () => {} };

/** The model says which request it answers, and every summary names the compaction that it is of. */
export function connectCompacting(input: WorldInput & { readonly isHeld?: boolean } = {}) {
  const { isHeld = false, ...given } = input;
  const summaries: string[] = [];
  const world = connect(given);
  const { lives, model } = world;
  const answered: ModelRequest[] = [];
  model.say = (request) => {
    if (request.purpose === "compaction") {
      summaries.push(`${SUMMARY}\nsummary ${summaries.length + 1}`);
      return says(summaries.at(-1) ?? "");
    }
    answered.push(request);
    return says(`reply ${answered.length}. ${"word ".repeat(60)}`);
  };
  const work = async (session: SessionId, compaction: CompactionId): Promise<void> => {
    const life = lives.get(session);
    if (!life?.chat) throw new Error("the session has no model");
    const { service, time, chat } = life;
    const ports = {
      session: service,
      model: chat,
      clock: time.now,
      schedule: time.schedule,
      random: () => 0,
      isSuspended: async () => false,
      log: QUIET,
    };
    await runCompaction({ tenant: TENANT, session, compaction }, ports);
  };
  const watched = new Map<string, Promise<void>>();
  /** Looks for compactions that were asked for, as the queue delivers them. */
  const deliver = async (): Promise<void> => {
    for (const [session, { jobs }] of lives) for (const job of jobs.splice(0)) watched.set(job, work(session, job as CompactionId));
    await Promise.all(watched.values());
  };
  /** Ends with the request, while compactions are worked off beside it. */
  const whileWorking = async <T>(asked: PromiseLike<T>): Promise<T> => {
    let isOver = false;
    const over = (): void => {
      isOver = true;
    };
    asked.then(over, over);
    while (!isOver) {
      if (!isHeld) await deliver();
      await world.settle();
    }
    return asked;
  };
  /** What the model has read for its newest answer. */
  const lastRead = (): string[] => {
    const last = answered.at(-1);
    return last ? show(last) : [];
  };
  return { ...world, answered, summaries, whileWorking, lastRead };
}

export const compactAbove = (compact_threshold: number) => ({
  context_management: [{ type: "compaction" as const, compact_threshold }],
});
