/**
 * What providers and gateways answer when a call fails, with the class of each and the tokens that they say would fit: wordings from
 * their documentation, their source and public trackers, and others like them (`test/fixtures/provider-failures.tsv`). `overflow` is
 * what a compaction mends; whatever else names tokens, limits and lengths is there so that it is never taken for one.
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
  /** Null: it names none. */
  readonly limit: number | null;
  readonly report: FailureReport;
}

const path = fileURLToPath(new URL("../fixtures/provider-failures.tsv", import.meta.url).href);
const [, ...lines] = readFileSync(path, "utf8").trimEnd().split("\n");

export const failureExamples: readonly FailureExample[] = lines.map((line) => {
  const [kind, status, code, type, limit, message] = rowSchema.parse(line.split("\t"));
  return { kind, limit, report: { status, code, type, message } };
});
