/** Calls one tool of a remote MCP server and converts its result to a text. Never throws. */
import type { ToolArtifact, ToolOutcome } from "../app/ports";
import type { McpServer } from "../contract/registered-tool";
import { MAX_ARTIFACTS } from "../domain/tool-run";
import { assertNever } from "../lib/assert-never";
import { describeToolFailure } from "./failure-in-words";
import { MAX_MCP_BYTES, type McpDeps, type McpSessionFailure, SDK_OPTIONS, withMcpSession } from "./mcp-client";
import { describeMedia, droppedInWords, toArtifact, toMedia } from "./media";
import { hideSecret, type ToolSecret } from "./tool-secret";

export interface McpCall {
  readonly server: McpServer;
  /** The tool's name at the server. */
  readonly tool: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly secret: ToolSecret | null;
  readonly signal: AbortSignal;
}

/** Maximum length of a server's own error message, in UTF-16 units. */
const MAX_FAILURE_TEXT = 4_000;

type Fields = Readonly<Record<string, unknown>>;
const isFields = (value: unknown): value is Fields => typeof value === "object" && value !== null && !Array.isArray(value);
const textAt = (fields: Fields, name: string): string => {
  const value = fields[name];
  return typeof value === "string" ? value : "";
};

export async function callMcpTool(call: McpCall, deps: McpDeps): Promise<ToolOutcome> {
  const { server, tool, secret, signal } = call;
  const called = await withMcpSession(
    { url: server.url, timeout_ms: server.timeout_ms, secret, signal },
    (client, within) => client.callTool({ name: tool, arguments: { ...call.arguments } }, undefined, { ...SDK_OPTIONS, signal: within }),
    deps,
  );
  if (!called.ok) return toFailed(called.error, secret);
  const result: Fields = called.value;
  const { output, artifacts } = readResult(result);
  const failure = result.isError === true ? "tool_error" : null;
  // Text that came as JSON may contain a lone surrogate.
  return { output: hideSecret(output, secret).toWellFormed(), failure, ...(artifacts.length > 0 && { artifacts }) };
}

interface Read {
  readonly text: string;
  readonly artifact?: ToolArtifact;
  /** Replaces `text` when the artifact exceeds the maximum number. */
  readonly dropped?: string;
}

/**
 * A server that gives structured content also gives it as text, for clients that read only text. If it does not, the
 * structured content becomes the text.
 */
function readResult({ content, structuredContent }: Fields): { readonly output: string; readonly artifacts: readonly ToolArtifact[] } {
  const parts = (Array.isArray(content) ? content : []).filter(isFields);
  const read = keepSome(parts.map(readPart));
  const isSaid = parts.some(({ type }) => type === "text") || structuredContent === undefined;
  const texts = [...read.map(({ text }) => text), ...(isSaid ? [] : [JSON.stringify(structuredContent)])];
  return { output: texts.join("\n"), artifacts: read.flatMap(({ artifact }) => artifact ?? []) };
}

/** Keeps the first artifacts. Of the others only the description stays. */
function keepSome(read: readonly Read[]): readonly Read[] {
  let kept = 0;
  return read.map((part) => (part.artifact && ++kept > MAX_ARTIFACTS ? { text: part.dropped ?? part.text } : part));
}

function readPart(part: Fields): Read {
  switch (part.type) {
    case "text":
      return { text: textAt(part, "text") };
    case "image":
    case "audio":
      return readMedia(textAt(part, "mimeType"), textAt(part, "data"));
    case "resource_link":
      return { text: `[resource: ${textAt(part, "name")}, ${textAt(part, "uri")}]` };
    case "resource":
      return readResource(isFields(part.resource) ? part.resource : {});
    default:
      return { text: `[${String(part.type)}: it cannot be shown here]` };
  }
}

function readResource(resource: Fields): Read {
  if (typeof resource.blob === "string") return readMedia(textAt(resource, "mimeType"), resource.blob);
  return { text: `[resource: ${textAt(resource, "uri")}]\n${textAt(resource, "text")}` };
}

/** The content is base64: without the padding, four characters are three bytes. */
function readMedia(mediaType: string, data: string): Read {
  const bytes = Math.floor((data.replace(/(?<!=)=+$/, "").length * 3) / 4);
  const media = toMedia(mediaType, bytes, () => data);
  return { text: describeMedia(media), artifact: toArtifact(media), dropped: droppedInWords(media) };
}

function toFailed(failure: McpSessionFailure, secret: ToolSecret | null): ToolOutcome {
  switch (failure.kind) {
    case "status":
      return { output: `The tool's server answered with status ${failure.status}.`, failure: "status" };
    case "error":
      return { output: hideSecret(failure.message, secret).slice(0, MAX_FAILURE_TEXT).toWellFormed(), failure: "tool_error" };
    case "malformed":
      return { output: "The tool's server gave an answer that is not MCP.", failure: "tool_error" };
    case "too_large":
      return { output: `The tool's answer is larger than ${MAX_MCP_BYTES} bytes. It may have taken effect.`, failure: "too_large" };
    case "refused_address":
    case "unreachable":
    case "timeout":
      return describeToolFailure(failure.kind);
    default:
      return assertNever(failure);
  }
}
