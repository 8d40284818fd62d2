/** A text that is planted beside facts and that holds for the rest of the conversation, or until it is replaced. */

/** Instruction: a lasting wish of the user. Decision: may be reversed. Identifier: has a fixed form. Task: open until it is closed. */
export const PLANTED = ["instruction", "decision", "identifier", "task"] as const;
export type Planted = (typeof PLANTED)[number];

/** The form of the value. `number`: two letters and five digits. */
export type ValueForm = "number" | "path" | "date" | "amount" | "id";

export interface Plant {
  /** `{n}`: the place. `{v}`: the value. */
  readonly says: string;
  /** The text that replaces it: a reversal, or the end of a task. `{v}` is its value. Absent: it is never replaced. */
  readonly later?: string;
  /** The question of a user who needs the value. It shares some words with the planted text. */
  readonly asked: string;
  /** Absent: `number`. */
  readonly form?: ValueForm;
}

export type Plants = Readonly<Record<Planted, readonly Plant[]>>;
