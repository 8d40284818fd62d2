/**
 * Decides what happens with a call that a model made: the client runs it, it runs here, or it cannot be run, and the model is told why.
 * Arguments are checked against the tool's own schema and never changed.
 */
import type { ServerTool, ToolCallPart, ToolDefinition } from "../../domain/message";
import type { ToolFailure } from "../../domain/tool-run";
import { sizeFault } from "./schema-bounds";
import { checkSchema, OverBudget, StepBudget, UnusableSchema } from "./schema-check";

export type JudgedCall =
  | { readonly kind: "client" }
  | {
      readonly kind: "server";
      readonly tool: ServerTool;
      readonly arguments: Readonly<Record<string, unknown>>;
      readonly needs_approval: boolean;
    }
  /** `output`: the text that the model reads in place of a result. */
  | { readonly kind: "invalid"; readonly failure: Extract<ToolFailure, "unknown_tool" | "invalid_arguments">; readonly output: string };

/**
 * A call of an unknown tool goes to the client if the session offers only built-in tools: an imported conversation may use tools that the
 * client runs. `budget`: shared by all calls that are checked in one go.
 */
export function judgeCall(
  call: Pick<ToolCallPart, "name" | "arguments">,
  tools: readonly ToolDefinition[],
  budget: StepBudget = new StepBudget(),
): JudgedCall {
  const tool = tools.find(({ name }) => name === call.name);
  if (!tool && tools.every(({ runs }) => runs?.by === "builtin")) return { kind: "client" };
  if (!tool) return { kind: "invalid", failure: "unknown_tool", output: unknownTool(call.name, tools) };
  const given = parseArguments(call.arguments);
  const faults = given ? findFaults(tool, given, budget) : ["arguments: must be a JSON object"];
  // A client checks the arguments of its own tools. A tool that runs here does not run with unchecked arguments.
  if (faults === "undecided")
    return tool.runs ? { kind: "invalid", failure: "invalid_arguments", output: undecided(call.name) } : { kind: "client" };
  if (!given || faults.length > 0) return { kind: "invalid", failure: "invalid_arguments", output: invalidArguments(call.name, faults) };
  if (!tool.runs) return { kind: "client" };
  return { kind: "server", tool: tool.runs, arguments: given, needs_approval: tool.needs_approval === true };
}

/** What becomes of a call that the limit of its reply cut off. */
export const CUT_OFF_CALL: Extract<JudgedCall, { kind: "invalid" }> = {
  kind: "invalid",
  failure: "invalid_arguments",
  output:
    "Your reply reached its limit of length in the middle of this call, so it was not run. Write less before it, or make the call with smaller arguments, in several calls if need be.",
};

/**
 * Whether the arguments of a reply's last call are not whole. Where the reply was cut off, arguments without a word count as cut, too:
 * the call of a tool without parameters looks the same, and costs one more call.
 */
export function isUnfinished({ arguments: text }: Pick<ToolCallPart, "arguments">): boolean {
  const given = parseArguments(text);
  return given === null || Object.keys(given).length === 0;
}

const unknownTool = (name: string, tools: readonly ToolDefinition[]): string =>
  tools.length === 0
    ? `There is no tool ${name}: no tools are offered.`
    : `There is no tool ${name}. Tools: ${tools.map((tool) => tool.name).join(", ")}.`;

const invalidArguments = (name: string, faults: readonly string[]): string =>
  `The arguments of ${name} are not as its schema wants them, and it was not run:\n${faults.map((fault) => `- ${fault}`).join("\n")}`;

const undecided = (name: string): string =>
  `The arguments of ${name} are too large to be checked against its schema, and it was not run. Call it with fewer or smaller arguments.`;

/** Empty text counts as `{}`, because models call a tool without parameters that way. Null when the text is no JSON object. */
function parseArguments(text: string): Record<string, unknown> | null {
  if (text.trim() === "") return {};
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : null;
  } catch {
    return null;
  }
}

/** What is wrong with the arguments. `undecided`: the check exceeds its budget. */
function findFaults(
  { parameters }: ToolDefinition,
  given: Readonly<Record<string, unknown>>,
  budget: StepBudget,
): readonly string[] | "undecided" {
  // The schema was stored before schemas had bounds, and is too large to check here: the tool's runner checks.
  if (sizeFault(parameters) !== null) return [];
  try {
    return checkSchema(parameters, given, budget);
  } catch (error) {
    // A schema that cannot be used checks nothing here: the tool's runner does.
    if (error instanceof UnusableSchema) return [];
    // A `RangeError` means that a value to be compared as a whole is nested deeper than the stack allows.
    if (error instanceof OverBudget || error instanceof RangeError) return "undecided";
    throw error;
  }
}
