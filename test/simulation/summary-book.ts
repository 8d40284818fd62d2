/**
 * What each summary has read. Every message of people and models begins with a mark of its own (`~7 `, `@7 `); a summary
 * carries a number, and the book says which marks its request held, those of the summaries that it went on from included.
 * So it can be told whether anything left the view without having been read.
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

/** The lease that the last part of a summary was made under; null: it is no summary of a model. */
export const findLease = (text: string): string | null => [...text.matchAll(SUMMARY)].at(-1)?.[2] ?? null;

/** What a recorded message begins with; null: nothing, as a call or a result. */
export const findMark = (text: string): string | null => /^[~@]\d+ /.exec(text)?.[0] ?? null;
