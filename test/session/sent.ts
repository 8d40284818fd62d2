/** Records requests as a life sends them, and compares them with the requests that its service rebuilds later. */
import { createHash } from "node:crypto";
import { expect } from "vitest";
import type { ModelRequest } from "../../src/app/ports";
import type { PastContext } from "../../src/contract/context";
import type { TurnId } from "../../src/domain/ids";
import { CALLER, type Life } from "./life";

/**
 * Everything that a provider's adapter writes of a request. The time is in the signed address of a file alone.
 */
const toBody = ({ model, purpose: _purpose, at: _at, ...request }: ModelRequest): string => {
  const { id, provider, upstream_id, base_url, max_output, capabilities = null } = model;
  return JSON.stringify({ model: { id, provider, upstream_id, base_url, max_output, capabilities }, ...request });
};

/** From now on, a life's sent and shown body is its complete request, and so is its digest. */
export function watched(life: Life): Life {
  life.digest = async (text) => createHash("sha256").update(text).digest("hex");
  life.toBody = toBody;
  return life;
}

export async function past(life: Life, turn: TurnId, call: number | null = null): Promise<PastContext> {
  const shown = await life.service.contextAt(CALLER, { turn, call });
  if (!shown.ok) throw new Error(shown.error.code);
  return shown.value;
}

export const listTurns = (life: Life): TurnId[] => [
  ...new Set(life.events().flatMap((event) => (event.type === "TurnStarted" ? [event.turn] : []))),
];

/** Every request of every recorded turn, rebuilt, in order. */
export async function allPast(life: Life): Promise<PastContext[]> {
  const all: PastContext[] = [];
  for (const turn of listTurns(life)) {
    const recorded = life.events().filter((event) => event.type === "ModelCallFinished" && event.turn === turn);
    for (let n = 1; n <= recorded.length; n++) all.push(await past(life, turn, n));
  }
  const findSeq = ({ calls, call }: PastContext): number => calls[call - 1]?.seq ?? 0;
  return all.sort((a, b) => findSeq(a) - findSeq(b));
}

/** Checks that the last of `lives` rebuilds all requests that they sent for their turns, byte for byte. */
export async function expectSame(...lives: readonly Life[]): Promise<void> {
  const sent = lives.flatMap((life) => life.sent.filter(({ purpose }) => purpose === "turn").map(({ body }) => body));
  const last = lives.at(-1);
  const told = last ? await allPast(last) : [];
  expect(told.map(({ request }) => request.body)).toEqual(sent);
  expect([...new Set(told.map(({ digest }) => `${digest.matches} ${digest.reason}`))]).toEqual(["true null"]);
}
