/** Which of a client's requests, told apart by the request itself and its count of tries, are attempts of one request. */
import { expect, test } from "vitest";
import { type KeptAttempt, type OutcomeStore, runAttempt } from "../../src/app/idempotency";
import { ok } from "../../src/lib/result";

interface Sent {
  readonly id: string;
  readonly tries: number;
  readonly arrived_at: number;
  /** When it is taken, in epoch milliseconds. */
  readonly now: number;
}

/** The number of the work that each request is answered with. */
function answer(...sent: readonly Sent[]): readonly number[] {
  const kept = new Map<string, KeptAttempt<number>>();
  const store: OutcomeStore<KeptAttempt<number>> = {
    find: (key) => {
      const outcome = kept.get(key);
      return outcome ? { digest: "d", outcome } : null;
    },
    keep: ({ key }, { outcome }) => void kept.set(key, outcome),
  };
  let done = 0;
  return sent.map(({ now, ...attempt }) => {
    const idempotency = { key: "request d", digest: "d", attempt };
    const ran = runAttempt(store, { idempotency, attempt, now, readEnd: () => null }, () => ok(++done));
    return ran.ok ? ran.value.outcome : -1;
  });
}

test.each<[string, readonly Sent[], readonly number[]]>([
  [
    "a repetition is an attempt of the request before it",
    [
      { id: "a", tries: 0, arrived_at: 0, now: 0 },
      { id: "b", tries: 1, arrived_at: 50, now: 50 },
    ],
    [1, 1],
  ],
  [
    "a first try that waited in line while its repetition was taken is an attempt of that",
    [
      { id: "b", tries: 1, arrived_at: 50, now: 60 },
      { id: "a", tries: 0, arrived_at: 10, now: 90 },
    ],
    [1, 1],
  ],
  [
    "a first try that arrived after a repetition was taken is a request of its own",
    [
      { id: "b", tries: 1, arrived_at: 50, now: 60 },
      { id: "c", tries: 0, arrived_at: 70, now: 90 },
    ],
    [1, 2],
  ],
  [
    "two first tries are two requests, also at once",
    [
      { id: "a", tries: 0, arrived_at: 10, now: 60 },
      { id: "c", tries: 0, arrived_at: 10, now: 60 },
    ],
    [1, 2],
  ],
])("%s", (_, sent, answers) => {
  expect(answer(...sent)).toEqual(answers);
});
