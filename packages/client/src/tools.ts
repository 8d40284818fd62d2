/** Tools as a program declares them, and one call of such a tool. */
import type { ClientTool, Session, SubmitMessage, Turn } from "./generated.ts";

export type JsonObject = Readonly<Record<string, unknown>>;

/** A call that the model made, as an open turn lists it. */
export type ToolCall = Turn["open_calls"][number];

export interface ToolContext {
  readonly call: ToolCall;
  /** Aborted when the caller gives up. */
  readonly signal: AbortSignal;
}

/** `A`: what `parse` returns; unknown without it. */
export interface Tool<A> {
  /** What the model reads of it. */
  readonly description?: string | undefined;
  /** A JSON Schema of type object. Absent: the session offers the tool already, and nothing is declared. */
  readonly parameters?: JsonObject | undefined;
  /** Checks the arguments and gives them a type. What it throws is read by the model, which may call again. */
  readonly parse?: ((args: JsonObject) => A) | undefined;
  /** Returns text, or any value that JSON can hold. What it throws is the result that the model reads. */
  run(args: unknown extends A ? JsonObject : A, context: ToolContext): unknown;
}

/** Tools by their names. */
export type Tools<T> = { readonly [K in keyof T]: Tool<T[K]> };

/** What is sent for a call. */
export interface CallResult {
  readonly execution_id: string;
  readonly output: unknown;
  readonly is_error?: true;
  readonly duration_ms?: number;
}

interface RunInput<T> {
  readonly call: ToolCall;
  readonly tools: Tools<T>;
  readonly signal: AbortSignal;
}

/** Every fault of a tool, of its arguments or of its output is a result. Rejects only with the signal's reason. */
export async function runCall<T>({ call, tools, signal }: RunInput<T>): Promise<CallResult> {
  const began = performance.now();
  const about = () => ({ execution_id: call.id, duration_ms: Math.round(performance.now() - began) });
  try {
    const output = toOutput(await untilAborted(start({ call, tools, signal }), signal));
    return { ...about(), output };
  } catch (error) {
    signal.throwIfAborted();
    return { ...about(), output: describe(error), is_error: true };
  }
}

async function start<T>({ call, tools, signal }: RunInput<T>): Promise<unknown> {
  const tool = Object.hasOwn(tools, call.name) ? tools[call.name as keyof T] : undefined;
  if (!tool) throw new Error(`There is no tool named ${call.name}. There are: ${Object.keys(tools).join(", ")}`);
  const args = readArguments(call.arguments);
  // Without `parse` the arguments are what `run` takes, by its type.
  return tool.run((tool.parse ? tool.parse(args) : args) as Parameters<typeof tool.run>[0], { call, signal });
}

/** A model that calls a tool without parameters may write nothing. */
function readArguments(text: string): JsonObject {
  const value: unknown = text.trim() === "" ? {} : JSON.parse(text);
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as JsonObject;
  throw new TypeError(`The arguments must be a JSON object, not ${text.slice(0, 100)}`);
}

/** A tool that returns nothing has succeeded all the same. */
function toOutput(value: unknown): unknown {
  if (value === undefined) return null;
  if (JSON.stringify(value) === undefined) throw new TypeError(`The tool returned a ${typeof value}, which JSON cannot hold`);
  return value;
}

const describe = (error: unknown): string => (error instanceof Error ? error.message || error.name : String(error));

/** A tool that does not heed the signal is left behind. */
export function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(signal.reason);
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
}

type OfferedTool = NonNullable<SubmitMessage["tools"]>[number];

/**
 * The `tools` of the message: what was offered without it, and the tools that have parameters. Undefined: the session's own are right
 * as they are.
 */
export function declareTools<T>(tools: Tools<T>, offered: readonly OfferedTool[]): OfferedTool[] | undefined {
  const declared = Object.entries<Tool<unknown>>(tools as Readonly<Record<string, Tool<unknown>>>).flatMap(([name, tool]) =>
    tool.parameters ? [toClientTool(name, tool.description, tool.parameters)] : [],
  );
  const known = new Set(offered.map((tool) => JSON.stringify(tool)));
  if (declared.every((tool) => known.has(JSON.stringify(tool)))) return undefined;
  const names = new Set(declared.map(({ name }) => name));
  return [...offered.filter((tool) => !("name" in tool) || !names.has(tool.name)), ...declared];
}

const toClientTool = (name: string, description: string | undefined, parameters: JsonObject): ClientTool => ({
  name,
  ...(description !== undefined && { description }),
  parameters,
});

/** A session's tools as a message offers them. The tools of one MCP server are one offer, and those of the server itself are none. */
export function listOffers(session: Pick<Session, "tools">): OfferedTool[] {
  const offers: OfferedTool[] = [];
  const servers = new Map<string, string[]>();
  for (const { name, description, parameters, files, runs } of session.tools ?? []) {
    if (runs?.by === "http") offers.push({ type: "http", name });
    if (runs?.by === "mcp") {
      const names = servers.get(runs.server);
      if (names) names.push(runs.tool);
      else {
        const all = [runs.tool];
        servers.set(runs.server, all);
        offers.push({ type: "mcp", server: runs.server, tools: all });
      }
    }
    if (runs === undefined) offers.push({ ...toClientTool(name, description, parameters), ...(files && { files }) });
  }
  return offers;
}
