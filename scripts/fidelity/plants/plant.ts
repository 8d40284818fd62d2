/** What is planted beside facts: something that must hold for the rest of the conversation, or until it is said otherwise. */

/** Instruction: the user wants it done from now on. Decision: may be reversed. Identifier: of one form. Task: open until it is closed. */
export const PLANTED = ["instruction", "decision", "identifier", "task"] as const;
export type Planted = (typeof PLANTED)[number];

/** What a value looks like; `number`: two letters and five digits. */
export type ValueForm = "number" | "path" | "date" | "amount" | "id";

export interface Plant {
  /** `{n}`: where; `{v}`: the value. */
  readonly says: string;
  /** What holds instead from then on: a reversal, the end of a task; `{v}` is its value. Absent: nothing ever does. */
  readonly later?: string;
  /** Asked in the words of somebody who needs it, some of which are the plant's. */
  readonly asked: string;
  /** Absent: `number`. */
  readonly form?: ValueForm;
}

export type Plants = Readonly<Record<Planted, readonly Plant[]>>;
