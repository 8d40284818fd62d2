/** A long reply at a readable pace, for a person who tries how a stream is shown, resumed or left. Other replies come at once. */
import { STAND_IN } from "./sentences";

/** A request for one, in few words: a pasted text that holds such words is none. */
const MOST_ASKED = 200;
const LONG = /\b(?:long|story|essay|poem|novel|slowly)\b/i;
const ASKS = /^\W*(?:please\s+)?(?:can you\s+|could you\s+)?(?:tell|write|give|say|speak|talk|stream)\b/i;
const COUNT = /^\W*(?:please\s+)?count\b[^.]{0,40}?\bto\s+(\d{1,4})\b/i;

const SENTENCES = 60;
const MOST_NUMBERS = 500;

/** The time between two pieces of a long reply. */
export const PACE_MS = 50;

/** Null: the message asks for no long reply. */
export function longReply(said: string): readonly string[] | null {
  if (said.length > MOST_ASKED) return null;
  const last = COUNT.exec(said)?.[1];
  if (last !== undefined && Number(last) > 0)
    return Array.from({ length: Math.min(Number(last), MOST_NUMBERS) }, (_, index) => `${index + 1} `);
  if (!ASKS.test(said) || !LONG.test(said)) return null;
  const told = Array.from(
    { length: SENTENCES },
    (_, index) => `Sentence ${index + 1} of ${SENTENCES} says no more than the one before it. `,
  );
  return [`${STAND_IN}, and a long reply is ${SENTENCES} sentences. `, ...told];
}
