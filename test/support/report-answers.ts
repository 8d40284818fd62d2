/**
 * Hands the answers that a file's requests had to the reporter (`answers-reporter`). The modules that make requests outlive a file, so
 * the setup of each file takes what its own requests had.
 */
import { afterAll } from "vitest";
import type { DocumentedAnswers } from "./documented-answers";

type ReadAnswers = () => Promise<DocumentedAnswers | null>;

const readers = new Set<ReadAnswers>();

/** A module that makes requests calls it once. `read`: null as long as there was no request. */
export function reportAnswers(read: ReadAnswers): void {
  readers.add(read);
}

/** Call it in the setup of each file. */
export function reportAnswersOfFile(): void {
  // biome-ignore lint/correctness/noEmptyPattern: Vitest reads from the pattern which fixtures are wanted.
  afterAll(async ({}, file) => {
    const read = await Promise.all([...readers].map((each) => each()));
    const reported = read.flatMap((answers) => (answers ? [{ documented: answers.all, met: answers.takeSeen() }] : []));
    const met = reported.flatMap((each) => each.met);
    if (met.length > 0) file.meta.answers = { documented: reported.flatMap((each) => each.documented), met };
  });
}
