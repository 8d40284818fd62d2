/**
 * Responses of providers and gateways to failed calls, with the class of each and the tokens that would fit: wordings
 * from their documentation, their source and public trackers, and variants (`test/fixtures/provider-failures.tsv`). A
 * compaction resolves an `overflow`. Other failures that mention tokens, limits and lengths are included so that they
 * are never classified as one.
 */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { z } from "zod";
import { FAILURE_KINDS } from "../../src/domain/model-call";
import type { FailureReport } from "../../src/model/classify-failure";

const optional = z.string().transform((text) => (text === "-" ? null : text));
const number = optional.transform((text) => (text === null ? null : Number(text)));
const rowSchema = z.tuple([z.enum(FAILURE_KINDS), number, optional, optional, number, z.string()]);

export interface FailureExample {
  readonly kind: (typeof FAILURE_KINDS)[number];
  /** Null when it names none. */
  readonly limit: number | null;
  readonly report: FailureReport;
}

const path = fileURLToPath(new URL("../fixtures/provider-failures.tsv", import.meta.url).href);
const [, ...lines] = readFileSync(path, "utf8").trimEnd().split("\n");

export const failureExamples: readonly FailureExample[] = lines.map((line) => {
  const [kind, status, code, type, limit, message] = rowSchema.parse(line.split("\t"));
  return { kind, limit, report: { status, code, type, message } };
});
