/** Sessions with a long past and a settled view: compacted, and filled to the same size as all others. */

import { waitForCompactions } from "../../scripts/replay/settle.ts";
import { Failure } from "../../scripts/support/output.ts";
import { append, describeSession, makeWords, openSession, registerModel, say } from "./chat.ts";
import type { Rig } from "./rig.ts";

export const WINDOW = 16_000;
export const REPLY_CHUNKS = 20;
/** Tokens of the view at the beginning of a comparison. They leave enough room below the threshold for the measured turns. */
const LEVEL = 6_000;
const ORDINARY_WORDS = 60;
/** New text counts this much more until the provider has counted it (`PADDING` of src/context/budget.ts). */
const PADDING = 1.25;
/** Above the compaction threshold, 0.85 of the window, and below the guard's limit. */
const FULL = 14_200;
/** The guard may drop messages, and the estimate may be wrong, before a turn ends above the threshold. */
const COMPACTION_TRIES = 6;

export const historyModel = (rig: Rig): Promise<string> => registerModel(rig, { chunks: REPLY_CHUNKS, gap: 0 }, WINDOW);

/** About `count` messages. Older ones were compacted, and the view holds `LEVEL` tokens. */
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

/** Ten messages of usual length: the view is as small as the history. */
export async function buildOrdinary(rig: Rig): Promise<string> {
  const session = await openSession(rig, await historyModel(rig));
  for (let index = 0; index < 10; index++) await append(rig, session, makeWords(ORDINARY_WORDS));
  return session;
}

/** Appends all but the last message, then runs a turn. From then on the provider's count determines the size of the view. */
async function levelView(rig: Rig, session: string, count: number): Promise<void> {
  await fillView(rig, session, { count: count - 1, level: LEVEL * 0.8 });
  await say(rig, session);
  await fillView(rig, session, { count: 1, level: LEVEL });
}

/** Appends messages that together fill the view. */
async function fillView(rig: Rig, session: string, { count, level }: { readonly count: number; readonly level: number }): Promise<void> {
  for (let left = count; left > 0; left--) {
    const { tokens } = (await describeSession(rig, session)).current_context_tokens;
    await append(rig, session, makeWords(Math.max(1, Math.round((level - tokens) / PADDING / left))));
  }
}
