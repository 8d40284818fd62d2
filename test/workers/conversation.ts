/** Conversations of a known size, with words that any tokenizer counts as one token each. */
import { createExecutionContext, createMessageBatch, getQueueResult } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { vi } from "vitest";
import type { CompactionJob } from "../../src/app/ports";
import worker from "../../src/index";
import type { Frames } from "./frames";
import { type Chat, type ChatInput, newChat } from "./support";

const WORDS = ["river", "stone", "cloud", "house", "light", "paper", "green", "table", "horse", "train"];

/** A text of about `tokens` tokens. `mark` makes it findable. */
export const words = (count: number, mark: string): string =>
  [mark, ...Array.from({ length: count - 1 }, (_, index) => WORDS[index % WORDS.length])].join(" ");

/** A window in which five turns of 300 and 400 tokens exceed 0.85, and the last of them is kept. */
export const WINDOW = 4_096;
export const TURNS = 5;
/** window − reserve of that model. */
export const LIMIT = WINDOW - 100;

/** Only the guard is active: no summary is ever requested. */
export const GUARD_ONLY = { preset: "oneclaw", summary: { form: "none" } } as const;

export interface LongChat {
  readonly chat: Chat;
  readonly frames: Frames;
}

/** A chat, and a reader of all its frames, before its first message. */
export async function smallChat(input: ChatInput = {}): Promise<LongChat> {
  const chat = await newChat({ window: WINDOW, maxOutput: 100, limit: LIMIT, ...input });
  return { chat, frames: await chat.listen(0) };
}

/** The turns with the numbers `from..to` of the conversation. */
export async function talk(chat: Chat, from: number, to: number): Promise<void> {
  for (let turn = from; turn <= to; turn++) {
    await chat.model.says({ text: words(400, `reply-${turn}`) });
    await chat.say(words(300, `question-${turn}`));
  }
}

export interface HeldQueue {
  /** Waits for the next wake-up and returns it. */
  next(): Promise<CompactionJob>;
}

/** Keeps the wake-ups from the queue. The test delivers them, or does not. `vi.restoreAllMocks` undoes it. */
export function holdQueue(): HeldQueue {
  const jobs: CompactionJob[] = [];
  const waiting: ((job: CompactionJob) => void)[] = [];
  vi.spyOn(env.COMPACTIONS, "send").mockImplementation(async (job: unknown) => {
    const taker = waiting.shift();
    if (taker) taker(job as CompactionJob);
    else jobs.push(job as CompactionJob);
    return { metadata: { metrics: { backlogCount: 0, backlogBytes: 0 } } };
  });
  return {
    async next() {
      const job = jobs.shift();
      return job ?? new Promise((resolve) => waiting.push(resolve));
    },
  };
}

let messages = 0;

/** One batch of wake-ups, delivered and settled. */
export async function deliver(...jobs: readonly unknown[]) {
  const batch = createMessageBatch(
    "longhand-compactions",
    jobs.map((body) => ({ id: `q-${++messages}`, timestamp: new Date(), attempts: 1, body })),
  );
  const context = createExecutionContext();
  await worker.queue(batch, env, context);
  return getQueueResult(batch, context);
}
