/** The steps of a recorded conversation: the client's actions and the replies. */

export interface Reply {
  readonly text: string;
  readonly calls: readonly { readonly id: string; readonly name: string; readonly arguments: string }[];
}

export interface ToolOutput {
  readonly call_id: string;
  readonly output: string;
}

/** A recorded message that is appended without a turn. */
export type Imported =
  | { readonly role: "user"; readonly content: string }
  | { readonly role: "assistant"; readonly content: string; readonly calls: Reply["calls"] }
  | { readonly role: "tool"; readonly content: string; readonly call_id: string };

export type Step =
  | ({ readonly type: "append" } & Imported)
  | { readonly type: "ask"; readonly content: string; readonly reply: Reply }
  /** `reply` is null when the recording ends with these results: then the provider sends no further reply. */
  | { readonly type: "answer"; readonly outputs: readonly ToolOutput[]; readonly reply: Reply | null };

/** The steps of one session, in one window. */
export interface Column {
  readonly name: string;
  readonly window: number;
  readonly system: string | null;
  readonly steps: readonly Step[];
}
