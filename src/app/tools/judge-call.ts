/**
 * What is to be done with a call that a model made: the client runs it, it runs here, or it cannot be run, and the model is told why.
 * Arguments are judged by the tool's own schema and are never changed.
 */
import { type OutputUnit, type Schema, Validator } from "@cfworker/json-schema";
import type { ServerTool, ToolCallPart, ToolDefinition } from "../../domain/message";
import type { ToolFailure } from "../../domain/tool-run";

export type JudgedCall =
  | { readonly kind: "client" }
  | {
      readonly kind: "server";
      readonly tool: ServerTool;
      readonly arguments: Readonly<Record<string, unknown>>;
      readonly needs_approval: boolean;
    }
  /** `output`: what the model reads in place of a result. */
  | { readonly kind: "invalid"; readonly failure: Extract<ToolFailure, "unknown_tool" | "invalid_arguments">; readonly output: string };

/** Faults that a model is told of at once. */
const MAX_FAULTS = 5;

/** Where the session offers nothing of its own there is nothing to judge by: an imported conversation may know tools that the client runs. */
export function judgeCall(call: Pick<ToolCallPart, "name" | "arguments">, tools: readonly ToolDefinition[]): JudgedCall {
  const tool = tools.find(({ name }) => name === call.name);
  if (!tool && tools.every(({ runs }) => runs?.by === "builtin")) return { kind: "client" };
  if (!tool) return { kind: "invalid", failure: "unknown_tool", output: unknownTool(call.name, tools) };
  const given = parseArguments(call.arguments);
  const faults = given ? faultsOf(tool, given) : ["arguments: must be a JSON object"];
  if (!given || faults.length > 0) return { kind: "invalid", failure: "invalid_arguments", output: invalidArguments(call.name, faults) };
  if (!tool.runs) return { kind: "client" };
  return { kind: "server", tool: tool.runs, arguments: given, needs_approval: tool.needs_approval === true };
}

const unknownTool = (name: string, tools: readonly ToolDefinition[]): string =>
  tools.length === 0
    ? `There is no tool ${name}: no tools are offered.`
    : `There is no tool ${name}. Tools: ${tools.map((tool) => tool.name).join(", ")}.`;

const invalidArguments = (name: string, faults: readonly string[]): string =>
  `The arguments of ${name} are not as its schema wants them, and it was not run:\n${faults.map((fault) => `- ${fault}`).join("\n")}`;

/** Nothing at all stands for `{}`, as models call a tool without parameters. Null: no JSON object. */
function parseArguments(text: string): Record<string, unknown> | null {
  if (text.trim() === "") return {};
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : null;
  } catch {
    return null;
  }
}

/** A schema that cannot be used judges nothing: whoever runs the tool will. */
function faultsOf({ parameters }: ToolDefinition, given: Readonly<Record<string, unknown>>): string[] {
  try {
    const { valid, errors } = new Validator(parameters as Schema, "2020-12", false).validate(given);
    return valid ? [] : describe(errors);
  } catch {
    return [];
  }
}

/** The innermost faults say what is wrong; those around them only where. */
function describe(errors: readonly OutputUnit[]): string[] {
  const isInner = ({ instanceLocation }: OutputUnit): boolean =>
    !errors.some((other) => other.instanceLocation.startsWith(`${instanceLocation}/`));
  const said = errors.filter(isInner).map(({ instanceLocation, error }) => `${fieldOf(instanceLocation)}: ${error}`);
  return [...new Set(said)].slice(0, MAX_FAULTS);
}

const fieldOf = (pointer: string): string => pointer.replace(/^#\/?/, "").replaceAll("/", ".") || "arguments";
