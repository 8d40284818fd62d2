/**
 * Tools of the MCP server. A tool is declared once: its schemas are what clients are told, and what is enforced. A refusal is a result
 * with `isError`, which the client's model reads and can act on.
 */
import type { CallToolResult, Tool as ToolEntry } from "@modelcontextprotocol/sdk/types.js";
import type { Context } from "hono";
import { z } from "zod";
import type { Idempotency } from "../../app/session-api";
import type { Result } from "../../lib/result";
import { sha256 } from "../../lib/sha256";
import { type Access, findRefusal, readPrincipal } from "../auth";
import type { HttpDeps, HttpEnv } from "../deps";
import { noteThrown } from "../observe";
import { describeRefusal, type HttpError } from "../problem";
import { toFieldErrors } from "../validation";

export interface ToolCall {
  readonly c: Context<HttpEnv>;
  readonly deps: HttpDeps;
  /** Tells the client how far the call is. Null: the client did not ask. */
  readonly progress: ((text: string) => Promise<void>) | null;
}

interface ToolParts<I extends z.ZodObject, O extends z.ZodObject> extends Access {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly input: I;
  readonly output: O;
  readonly annotations: ToolEntry["annotations"];
  /** The call may take long: its answer is a stream, which comments keep alive. */
  readonly isLong?: true;
  run(input: z.output<I>, call: ToolCall): Promise<Result<z.output<O>, HttpError>>;
}

export interface Tool extends Access {
  readonly entry: ToolEntry;
  readonly isLong: boolean;
  call(given: unknown, call: ToolCall): Promise<CallToolResult>;
}

const objectSchema = z.looseObject({
  type: z.literal("object"),
  properties: z.record(z.string(), z.looseObject({})).optional(),
  required: z.array(z.string()).optional(),
});

/** What goes in is described, not what the parser makes of it: an id is a string on the wire. */
const toJsonSchema = (schema: z.ZodObject) => objectSchema.parse(z.toJSONSchema(schema, { io: "input", unrepresentable: "any" }));

const naming = z.looseObject({ session_id: z.string() });

const readSessionId = (given: unknown): string | undefined => naming.safeParse(given).data?.session_id;

const toText = (value: object): CallToolResult["content"] => [{ type: "text", text: JSON.stringify(value) }];

/** The problem document of the native API, as text: it names the reason, and the fields at fault. */
function refuseCall({ c }: Pick<ToolCall, "c">, error: HttpError): CallToolResult {
  return { isError: true, content: toText(describeRefusal(error, c.get("requestId")).document) };
}

export function defineTool<I extends z.ZodObject, O extends z.ZodObject>(parts: ToolParts<I, O>): Tool {
  const { name, title, description, scope, opensTo, input, output, annotations, isLong = false } = parts;
  const entry = {
    name,
    title,
    description,
    inputSchema: toJsonSchema(input),
    outputSchema: toJsonSchema(output),
    annotations: { title, openWorldHint: false, ...annotations },
  };
  async function call(given: unknown, about: ToolCall): Promise<CallToolResult> {
    const refused = findRefusal(readPrincipal(about.c), { scope, opensTo, session: readSessionId(given) });
    if (refused) return refuseCall(about, refused);
    const parsed = input.safeParse(given ?? {});
    if (!parsed.success) return refuseCall(about, { code: "invalid_request", errors: toFieldErrors(parsed.error.issues) });
    const done = await parts.run(parsed.data, about);
    return done.ok ? { content: toText(done.value), structuredContent: done.value } : refuseCall(about, done.error);
  }
  return { entry, scope, opensTo, isLong, call: (given, about) => withoutDefects(about, () => call(given, about)) };
}

/** The SDK would send the text of what is thrown to the client. */
async function withoutDefects(about: ToolCall, work: () => Promise<CallToolResult>): Promise<CallToolResult> {
  try {
    return await work();
  } catch (error) {
    return refuseCall(about, noteThrown(about.deps, about.c, error instanceof Error ? error : new Error("not an error")));
  }
}

/** Null without a key. The digest is of the tool and what it was given, because each sending has a JSON-RPC id of its own. */
export async function readToolKey(tool: string, key: string | undefined, given: object): Promise<Idempotency | null> {
  return key === undefined ? null : { key, digest: await sha256(`mcp ${tool}\n${JSON.stringify(given)}`) };
}
