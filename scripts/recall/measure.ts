/** Asks for every planted fact through the code of `memory_query`. */

import type { RecallArguments } from "../../src/context/recall/request.ts";
import type { RecallReport } from "../../src/contract/recall.ts";
import { lookUp, type RecallPorts } from "../../src/session/recall/recall.ts";
import { buildRecord, executionAt } from "../../test/support/recall-record.ts";
import { createNodeSql } from "../support/node-sql.ts";
import type { Planted } from "./conversation.ts";
import { type RecallFigures, toFigures } from "./figures.ts";

const LIMIT = 60;

export async function measureLanguage(language: string, planted: Planted): Promise<RecallFigures[]> {
  const ports = buildRecord(createNodeSql(), planted.said);
  const by = "memory_query" as const;
  const own = [];
  const other = [];
  for (const { exact, asked, evidence } of planted.questions) {
    own.push(await findEvidence({ query: exact }, evidence + 1, ports));
    other.push(await findEvidence({ query: asked }, evidence + 1, ports));
  }
  const executions = await measureExecutions(planted, ports);
  return [
    toFigures({ language, asked: "execution id", by }, executions),
    toFigures({ language, asked: "own words", by }, own),
    toFigures({ language, asked: "other words", by }, other),
  ];
}

async function ask(given: RecallArguments, ports: RecallPorts): Promise<RecallReport> {
  const found = await lookUp(given, { hiddenOnly: true, limit: LIMIT }, ports);
  if (!found.ok) throw new Error(`${found.error.field}: ${found.error.detail}`);
  return found.value;
}

async function findEvidence(given: RecallArguments, position: number, ports: RecallPorts): Promise<{ at: number; tokens: number }> {
  const { data, tokens } = await ask(given, ports);
  const at = data.findIndex((hit) => hit.position === position || hit.neighbours.some((near) => near.position === position));
  return { at, tokens: tokens.tokens };
}

/** Reads all pages. A result counts as found when all its characters were returned. */
async function measureExecutions({ said }: Planted, ports: RecallPorts): Promise<{ at: number; tokens: number }[]> {
  const found = [];
  for (const [index, { kind, text }] of said.entries()) {
    if (kind === "tool_result") found.push(await readExecution(index, text, ports));
  }
  return found;
}

async function readExecution(call: number, text: string, ports: RecallPorts): Promise<{ at: number; tokens: number }> {
  let whole = "";
  let most = 0;
  for (let next: RecallReport["next"] = { from: null, to: null, offset: 0 }; next; ) {
    const page = await ask({ execution_id: executionAt(call), offset: next.offset }, ports);
    whole += page.next ? page.text.slice(0, page.text.lastIndexOf("\n[characters")) : page.text;
    most = Math.max(most, page.tokens.tokens);
    next = page.next;
  }
  return { at: whole.endsWith(text) ? 0 : -1, tokens: most };
}
