/**
 * Records what each summary has read. Every message begins with its own mark (`~7 `, `@7 `). A summary has a number,
 * and the book lists the marks in its request, including those of the summaries that it continues. So a rule can check
 * whether anything left the view without having been read.
 */
import type { ModelRequest } from "../../src/app/ports";
import type { Part } from "../../src/domain/message";

const MARK = /[~@]\d+ /g;
const SUMMARY = /summary S(\d+) as of lease (\d+|none)/g;

const listTexts = (part: Part): string[] => {
  if (part.type === "text") return [part.text];
  return part.type === "tool_result" ? [part.output] : [];
};

export const textsOfRequest = ({ system, messages }: ModelRequest): string =>
  [system ?? "", ...messages.flatMap(({ parts }) => parts.flatMap(listTexts))].join("\n");

export class SummaryBook {
  readonly #read = new Map<string, ReadonlySet<string>>();

  /** The first line of the answer to `request`, made under lease `token`. */
  begin(request: ModelRequest, token: number | null): string {
    const number = String(this.#read.size + 1);
    this.#read.set(number, this.marksIn(textsOfRequest(request)));
    return `This is summary S${number} as of lease ${token ?? "none"}.`;
  }

  /** Every mark in a text, and every mark that the summaries in it have read. */
  marksIn(text: string): ReadonlySet<string> {
    const marks = new Set(text.match(MARK) ?? []);
    for (const [, number] of text.matchAll(SUMMARY)) for (const mark of this.#read.get(number ?? "") ?? []) marks.add(mark);
    return marks;
  }
}

/** The lease under which the last chunk of a summary was read. Null: no model wrote the summary. */
export const findLease = (text: string): string | null => [...text.matchAll(SUMMARY)].at(-1)?.[2] ?? null;

/** The mark at the beginning of a recorded message. Null: it has none, like a call or a result. */
export const findMark = (text: string): string | null => /^[~@]\d+ /.exec(text)?.[0] ?? null;
