/** Hands the answers that a file's requests had to the reporter (`answers-reporter`). */
import { afterAll } from "vitest";
import type { DocumentedAnswers } from "./documented-answers";

/** Call it once in a file. `read`: null when the file made no request. */
export function reportAnswers(read: () => Promise<DocumentedAnswers | null>): void {
  // biome-ignore lint/correctness/noEmptyPattern: Vitest reads from the pattern which fixtures are wanted.
  afterAll(async ({}, file) => {
    const answers = await read();
    if (answers) file.meta.answers = { documented: [...answers.all], met: [...answers.seen] };
  });
}
