/** Compares the figures of docs/limits.md with the constants in the code. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { z } from "zod";
import { MAX_OFFERED_TOOLS } from "../src/app/tool-entry";
import { MAX_REPLY_UNITS } from "../src/app/turn/ask-model";
import { findFileType } from "../src/context/file-types";
import { MAX_REQUEST_BYTES } from "../src/context/model-quirks";
import { policySchema } from "../src/context/policy";
import { presets } from "../src/context/presets";
import { MAX_CONTENT_BYTES } from "../src/context/request-bytes";
import { TOOL_RESULT_MAX_CHARS } from "../src/context/tool-results";
import { BODY_LIMIT } from "../src/http/body";
import { MAX_DEPTH, MAX_VALUES } from "../src/http/json-check";
import { MAX_HEADER_CHARS, MAX_HEADERS, MAX_URL } from "../src/http/limit-problems";
import { MAX_TOKEN_SECONDS } from "../src/http/schemas/access-token";
import { httpToolInput, MAX_TIMEOUT_MS, MAX_TOOL_ANSWER_BYTES } from "../src/http/schemas/server-tool";
import { MAX_ALLOWED_ORIGINS } from "../src/http/schemas/tenant";
import { MAX_USAGE_DAYS } from "../src/http/schemas/usage";
import { MAX_ANSWER_BYTES } from "../src/session/calls/answer-size";
import { MAX_SHOWN_CHARS } from "../src/session/calls/context-call";
import { MAX_CREDENTIALS } from "../src/tenant/credentials/credential-store";
import { MAX_FILES, MAX_STORED_BYTES } from "../src/tenant/files/file-limits";
import { MAX_MODELS } from "../src/tenant/settings/registry";
import { MAX_MCP_SERVERS, MAX_TOOLS } from "../src/tenant/settings/tool-registry";

const limits = readFileSync(join(import.meta.dirname, "..", "docs", "limits.md"), "utf8").replaceAll(/\s+/g, " ");

const MIB = 1_048_576;
const inWords = (figure: number): string => figure.toLocaleString("en-US");
const tool = httpToolInput.parse({ url: "https://api.example.com/", parameters: { type: "object" } });
const toMegabytes = (type: string): number => Math.floor((findFileType(type)?.maxBytes ?? 0) / 1e6);
const MOST_ROUNDS = z.toJSONSchema(policySchema.shape.tools.shape.max_rounds).maximum ?? 0;

test.each([
  `A request body is at most ${BODY_LIMIT / MIB} MB`,
  `A URL has at most ${inWords(MAX_URL)} characters, a request ${MAX_HEADERS} headers of ${inWords(MAX_HEADER_CHARS)} characters in all`,
  `A JSON body is nested at most ${MAX_DEPTH} levels deep and has at most ${inWords(MAX_VALUES)} values`,
  `covers at most ${MAX_USAGE_DAYS} days in one request`,
  `A tool result is cut at ${inWords(TOOL_RESULT_MAX_CHARS)} characters`,
  `its reply at most ${inWords(MAX_REPLY_UNITS)} characters`,
  `A turn has at most ${presets.balanced.tools.max_rounds} rounds of tools (\`tools.max_rounds\`: up to ${inWords(MOST_ROUNDS)})`,
  `One answer holds at most about ${MAX_ANSWER_BYTES / 1_000_000} MB of content`,
  `A request to a model holds at most ${inWords(MAX_CONTENT_BYTES)} bytes of content, ${inWords(MAX_REQUEST_BYTES)} in all`,
  `A next request of more than ${inWords(MAX_SHOWN_CHARS)} characters is not shown`,
  `A tenant has at most ${MAX_MODELS} models, ${MAX_CREDENTIALS} credentials, ${MAX_TOOLS} HTTP tools and ${MAX_MCP_SERVERS} MCP servers of its own, a session ${MAX_OFFERED_TOOLS} tools`,
  `An image is at most ${toMegabytes("image/png")} MB, a PDF ${toMegabytes("application/pdf")} MB, a text ${toMegabytes("text/csv")} MB`,
  `A tenant stores at most ${inWords(MAX_FILES)} files and ${MAX_STORED_BYTES / 1e9} GB`,
  `A tool's answer is read up to ${MAX_TOOL_ANSWER_BYTES / MIB} MiB and ${MAX_TIMEOUT_MS / 60_000} minutes (${tool.max_bytes / 1_000_000} MB and ${tool.timeout_ms / 1_000} seconds by default)`,
  `allows at most ${MAX_ALLOWED_ORIGINS} origins of web pages`,
  `An access token lives at most ${MAX_TOKEN_SECONDS / 3_600} hours`,
])("a documented limit is the code's: %s", (figure) => {
  expect(limits).toContain(figure);
});
