/** Draws what people write, how the network carries it, and how the platform fails meanwhile. One seed always draws the same. */
import { createRandom, type Random } from "../../support/random.ts";

/** Discord sends an interaction once, so that a kill may lose it: it is not among them. */
export const PLATFORMS = ["telegram", "slack", "whatsapp", "generic"] as const;
export type PlatformName = (typeof PLATFORMS)[number];

/**
 * `limit`: the platform asks to wait. `refuse`: it fails before it took the message. `gateway`: a gateway fails, and does not know whether the
 * message was taken. `lose_answer`: the connection ends after it was taken. `hang`: there is no answer.
 */
export type Failure = "limit" | "refuse" | "gateway" | "lose_answer" | "hang";

/** `slow`: the reply is written for two seconds, so that kills meet it. `long`: it is several messages. */
export type ReplyKind = "short" | "slow" | "long";

export interface Planned {
  readonly mark: number;
  readonly platform: PlatformName;
  readonly chat: number;
  /** When the person writes, in milliseconds from the begin. */
  readonly at: number;
  readonly kind: ReplyKind;
  /** What happens to the platform's next call. Null: nothing. */
  readonly failure: Failure | null;
}

/** How a delivery travels. */
export interface Fate {
  /** Milliseconds until the first attempt. A long one lets later messages overtake. */
  readonly delay: number;
  /** Two attempts at the same time. */
  readonly isDoubled: boolean;
  /** How many answers of 2xx the platform does not get, so that it delivers again. */
  readonly lostAnswers: number;
  /** Milliseconds after its answer at which it is delivered once more. Null: it is not. */
  readonly again: number | null;
}

const MESSAGES_OF_A_CHAT = 8;
const LEAST_CHATS = 3;

/** Chats of each platform. */
export const countChats = (deliveries: number): number =>
  Math.max(LEAST_CHATS, Math.ceil(deliveries / PLATFORMS.length / MESSAGES_OF_A_CHAT));

function draw<T>(random: Random, shares: readonly (readonly [T, number])[], otherwise: T): T {
  const at = random.between(1, 1_000);
  let sum = 0;
  for (const [value, share] of shares) {
    sum += share;
    if (at <= sum) return value;
  }
  return otherwise;
}

/** In thousandths of all messages. */
const KINDS: readonly (readonly [ReplyKind, number])[] = [
  ["slow", 300],
  ["long", 40],
];
/** A hang holds its chat up for 30 seconds, so that it is rare. */
const FAILURES: readonly (readonly [Failure, number])[] = [
  ["limit", 60],
  ["refuse", 60],
  ["gateway", 25],
  ["lose_answer", 40],
  ["hang", 5],
];

export function drawPlan(
  { deliveries, seed }: { readonly deliveries: number; readonly seed: number },
  duration: number,
): readonly Planned[] {
  const random = createRandom(seed);
  const chats = countChats(deliveries);
  const planned = Array.from({ length: deliveries }, (_, index) => ({
    mark: index + 1,
    platform: PLATFORMS[random.between(0, PLATFORMS.length - 1)] ?? "generic",
    chat: random.between(1, chats),
    at: random.between(0, duration),
    kind: draw<ReplyKind>(random, KINDS, "short"),
    failure: draw<Failure | null>(random, FAILURES, null),
  }));
  return planned.toSorted((a, b) => a.at - b.at);
}

const SHARE = { slow: 100, doubled: 150, lost: 120, again: 150 };

/** `random`: the delivery's own, so that the moments of others do not change it. */
export function drawFate(random: Random): Fate {
  const isChosen = (share: number): boolean => random.between(1, 1_000) <= share;
  return {
    delay: isChosen(SHARE.slow) ? random.between(500, 6_000) : random.between(0, 100),
    isDoubled: isChosen(SHARE.doubled),
    lostAnswers: isChosen(SHARE.lost) ? random.between(1, 2) : 0,
    again: isChosen(SHARE.again) ? random.between(50, 20_000) : null,
  };
}

/** What a person writes, and how it is found again. */
export const toQuestion = (mark: number): string => `ask m${mark}, please`;
export function readQuestion(text: string): number | null {
  const [, mark] = /\bask m(\d+), please/.exec(text) ?? [];
  return mark === undefined ? null : Number(mark);
}

const PIECES: Readonly<Record<ReplyKind, number>> = { short: 1, slow: 8, long: 60 };
const FILLER = " the road was long and the weather was fair".repeat(2);

export const countPieces = ({ kind }: Pick<Planned, "kind">): number => PIECES[kind];

/** The lines of the reply. Each has a word of its own, so that a line that is missing or doubled is seen. */
export function writeReply({ mark, kind }: Pick<Planned, "mark" | "kind">): readonly string[] {
  return Array.from({ length: PIECES[kind] }, (_, index) => `m${mark}p${index + 1}${kind === "long" ? FILLER : ""}`);
}

export interface Piece {
  readonly mark: number;
  readonly number: number;
}

export const readPieces = (text: string): readonly Piece[] =>
  [...text.matchAll(/\bm(\d+)p(\d+)\b/g)].map(([, mark, number]) => ({ mark: Number(mark), number: Number(number) }));
