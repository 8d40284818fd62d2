/** Sessions with a long past whose view is settled: compacted, and filled to the same height as every other one's. */

import { waitForCompactions } from "../../scripts/replay/settle.ts";
import { Failure } from "../../scripts/support/output.ts";
import { append, describeSession, makeWords, openSession, registerModel, say } from "./chat.ts";
import type { Rig } from "./rig.ts";

export const WINDOW = 16_000;
export const REPLY_CHUNKS = 20;
/** Tokens of the view that a comparison starts from: enough room below the threshold for the turns that are measured. */
const LEVEL = 6_000;
const ORDINARY_WORDS = 60;
/** New text counts this much more until the provider has counted it (`PADDING` of src/context/budget.ts). */
const PADDING = 1.25;
/** Above the threshold of compaction, 0.85 of the window, and below what the guard would let through. */
const FULL = 14_200;
/** The guard may drop what would not fit, and the estimate be off, before a turn ends above the threshold. */
const COMPACTION_TRIES = 6;

export const historyModel = (rig: Rig): Promise<string> => registerModel(rig, { chunks: REPLY_CHUNKS, gap: 0 }, WINDOW);

/** About `count` messages; what is older than the view was compacted, and the view holds `LEVEL` tokens. */
export async function buildHistory(rig: Rig, count: number): Promise<string> {
  const session = await openSession(rig, await historyModel(rig));
  for (let index = 0; index < count; index++) await append(rig, session, `${index} ${makeWords(ORDINARY_WORDS)}`);
  for (let tries = 0; tries < COMPACTION_TRIES; tries++) {
    await say(rig, session);
    await waitForCompactions(rig.connection, [session]);
    if ((await describeSession(rig, session)).current_context_tokens.tokens < LEVEL) {
      await levelView(rig, session, 3);
      return session;
    }
    await fillView(rig, session, { count: 3, level: FULL });
  }
  throw new Failure(`A session of ${count} messages was not compacted`);
}

/** Ten messages that fill the view to the same level. */
export async function buildShort(rig: Rig): Promise<string> {
  const session = await openSession(rig, await historyModel(rig));
  await levelView(rig, session, 10);
  return session;
}

/** Ten messages as people write them: the view is as small as the history. */
export async function buildOrdinary(rig: Rig): Promise<string> {
  const session = await openSession(rig, await historyModel(rig));
  for (let index = 0; index < 10; index++) await append(rig, session, makeWords(ORDINARY_WORDS));
  return session;
}

/** All but the last message, then a turn: from there on the provider's own count tells how full the view is. */
async function levelView(rig: Rig, session: string, count: number): Promise<void> {
  await fillView(rig, session, { count: count - 1, level: LEVEL * 0.8 });
  await say(rig, session);
  await fillView(rig, session, { count: 1, level: LEVEL });
}

/** Appends so many messages that together they fill the view. */
async function fillView(rig: Rig, session: string, { count, level }: { readonly count: number; readonly level: number }): Promise<void> {
  for (let left = count; left > 0; left--) {
    const { tokens } = (await describeSession(rig, session)).current_context_tokens;
    await append(rig, session, makeWords(Math.max(1, Math.round((level - tokens) / PADDING / left))));
  }
}
