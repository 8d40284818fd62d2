/** A story as it is written: its steps, and what is asked about it in the end. */
import type { Random } from "../support/random.ts";
import type { FactLanguage } from "./facts.ts";

export type Step =
  /** The user says something, and the model replies. */
  | { readonly type: "say"; readonly text: string }
  /** A reply of the assistant's from elsewhere. */
  | { readonly type: "reply"; readonly text: string }
  /** The user has the meter read: by the session's own tool, or somewhere else, whose call and result are imported. */
  | { readonly type: "read"; readonly meter: string; readonly imported: boolean };

/** What was planted. A result of a tool is a fact. */
export const TOPICS = ["fact", "instruction", "decision", "identifier", "task"] as const;
export type Topic = (typeof TOPICS)[number];

/** How it is asked for: `exact` and `asked` for a fact; of a result `by_words` of its call, or `by_execution`. `reversed`, `closed`: the newest must win. */
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
  /** What the reply must hold, and nothing else does. */
  readonly value: string;
  /** What held before; null: nothing did. A reply that says it first has it wrong. */
  readonly outdated: string | null;
}

/** Something that is said when `at` facts were told of each language. */
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
  /** What is still to be reversed or closed. */
  readonly pending: Pending[];
}
