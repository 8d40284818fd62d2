/** A written story: its steps, and the questions at its end. */
import type { Random } from "../support/random.ts";
import type { FactLanguage } from "./facts.ts";

export type Step =
  /** The user sends a message, and the model replies. */
  | { readonly type: "say"; readonly text: string }
  /** An imported reply of the assistant. */
  | { readonly type: "reply"; readonly text: string }
  /** The user asks for a meter reading: by the session's own tool, or as an imported call with its result. */
  | { readonly type: "read"; readonly meter: string; readonly imported: boolean };

/** The kind of planted text. A tool result is a fact. */
export const TOPICS = ["fact", "instruction", "decision", "identifier", "task"] as const;
export type Topic = (typeof TOPICS)[number];

/**
 * The kind of question: `exact` and `asked` for a fact; `by_words` of its call or `by_execution` for a result.
 * `reversed`, `closed`: the newest value must win.
 */
export const KINDS = {
  exact: "fact",
  asked: "fact",
  by_words: "fact",
  by_execution: "fact",
  instruction: "instruction",
  decision: "decision",
  reversed: "decision",
  identifier: "identifier",
  open: "task",
  closed: "task",
} as const satisfies Readonly<Record<string, Topic>>;
export type Kind = keyof typeof KINDS;

export interface Question {
  readonly language: string;
  readonly kind: Kind;
  /** `{x}` stands for the execution that read `meter`. */
  readonly text: string;
  readonly meter: string | null;
  /** The value that the reply must contain. It occurs nowhere else. */
  readonly value: string;
  /** The previous value, or null. A reply that states it first is wrong. */
  readonly outdated: string | null;
}

/** A text that is sent when `at` facts of each language have been planted. */
export interface Pending {
  readonly at: number;
  readonly language: FactLanguage;
  readonly text: string;
}

export interface Writing {
  readonly random: Random;
  readonly steps: Step[];
  readonly questions: Question[];
  readonly results: Map<string, string>;
  readonly values: Set<string>;
  /** Texts that are still to be reversed or closed. */
  readonly pending: Pending[];
}
