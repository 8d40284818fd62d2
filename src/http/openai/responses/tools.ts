/**
 * The tools of a request for a response: what the model is offered of them, the form in which the client calls each, and what is left out because
 * only OpenAI runs it. docs/clients/openai-tools.md has the table.
 */
import { z } from "@hono/zod-openapi";
import type { FieldError } from "../../../contract/problem";
import { err, ok, type Result } from "../../../lib/result";
import { NO_PARAMETERS, type ToolInput, toolDescription, toolName } from "../../schemas/tool";
import { toFieldErrors } from "../../validation";
import { type CallForm, type CallForms, describeTextTool, textFormat, toFunctionName } from "../items/call-forms";
import type { ResponseAsked } from "./asked";

const flag = z.boolean().nullish();

const functionTool = z.looseObject({
  type: z.literal("function"),
  name: toolName,
  description: toolDescription.nullish(),
  parameters: z.record(z.string(), z.unknown()).nullish(),
  strict: flag,
});
const customTool = z.looseObject({
  type: z.literal("custom"),
  name: toolName,
  description: toolDescription.nullish(),
  format: textFormat.nullish(),
});
type OwnTool = z.infer<typeof functionTool> | z.infer<typeof customTool>;

const namespaceTool = z.looseObject({
  type: z.literal("namespace"),
  name: toolName,
  description: z.string().nullish(),
  tools: z.array(z.discriminatedUnion("type", [functionTool, customTool], "a namespace has tools of type function and custom")),
});

const REGISTERED = "is registered with the server, not sent with a request";
const toolNames = z.strictObject({ tool_names: z.array(z.string()).nullish(), read_only: z.literal(false, "is not supported").nullish() });
/** An MCP server that the tenant registered, by the name that it has here. */
const mcpTool = z.looseObject({
  type: z.literal("mcp"),
  server_label: z.string().min(1).max(64),
  allowed_tools: z.union([z.array(z.string()), toolNames.transform(({ tool_names }) => tool_names ?? null)]).nullish(),
  require_approval: z
    .union([z.enum(["always", "never"]), z.strictObject({ always: toolNames.nullish(), never: toolNames.nullish() })])
    .nullish(),
  server_url: z.string().nullish(),
  connector_id: z.null("only servers that the tenant registered, by server_label").optional(),
  authorization: z.null(REGISTERED).optional(),
  headers: z
    .record(z.string(), z.unknown())
    .refine((headers) => Object.keys(headers).length === 0, REGISTERED)
    .nullish(),
});

/** Tools that OpenAI runs itself. An agent declares them whatever its model is, and works without them. */
const HOSTED = [
  "web_search",
  "web_search_2025_08_26",
  "web_search_preview",
  "web_search_preview_2025_03_11",
  "file_search",
  "code_interpreter",
  "image_generation",
  "tool_search",
  "programmatic_tool_calling",
] as const;
const hostedTool = z.looseObject({ type: z.enum(HOSTED) });

/** Tools that the client runs, in a form that only OpenAI's own models call. Without them an agent would lose its shell or its editor. */
const FOREIGN = "only OpenAI's models call a tool of this type: declare the tool as type function or custom";

export const responseTool = z.discriminatedUnion("type", [functionTool, customTool, namespaceTool, mcpTool, hostedTool], FOREIGN);
type ResponseTool = z.infer<typeof responseTool>;

const isHosted = (tool: ResponseTool): tool is z.infer<typeof hostedTool> => HOSTED.some((type) => type === tool.type);

const MODES = ["auto", "none", "required"] as const;
const named = <T extends "function" | "custom">(type: T) =>
  z.looseObject({ type: z.literal(type), name: toolName, namespace: toolName.nullish() });
const allowedTool = z.discriminatedUnion(
  "type",
  [named("function"), named("custom"), z.looseObject({ type: z.literal("mcp"), server_label: z.string() }), hostedTool],
  "must be a tool of the request, by its name, or by its server_label",
);
type AllowedTool = z.infer<typeof allowedTool>;

/** The model sees no other tools. */
const allowedTools = z.looseObject({
  type: z.literal("allowed_tools"),
  mode: z.enum(["auto", "required"]),
  tools: z.array(allowedTool),
});
export const toolChoice = z.union(
  [z.enum(MODES), named("function"), named("custom"), allowedTools],
  "must be auto, none, required, a function or custom tool by its name, or allowed_tools",
);

/** Some agents bring their tools as an item of the input. They hold for the whole response. */
const additionalTools = z.looseObject({ type: z.literal("additional_tools"), tools: z.array(responseTool) });
const isAdditional = z.looseObject({ type: z.literal("additional_tools") });

interface PlacedTool {
  readonly tool: ResponseTool;
  /** Where the request has it. */
  readonly field: string;
}

/** The tools of a request: its own, and those that its input brings. Null: it names none, and the session's are offered. */
export function readBroughtTools({ tools, input }: ToolBody): Result<BroughtTools, readonly FieldError[]> {
  const own = tools?.map((tool, index): PlacedTool => ({ tool, field: `tools.${index}` })) ?? null;
  const added: PlacedTool[] = [];
  for (const [index, item] of Array.isArray(input) ? input.entries() : []) {
    if (!isAdditional.safeParse(item).success) continue;
    const read = additionalTools.safeParse(item);
    if (!read.success)
      return err(toFieldErrors(read.error.issues).map(({ field, detail }) => ({ field: `input.${index}.${field}`, detail })));
    added.push(...read.data.tools.map((tool, nth): PlacedTool => ({ tool, field: `input.${index}.tools.${nth}` })));
  }
  // A history that is sent again has the same item again.
  const known = new Set((own ?? []).map(({ tool }) => JSON.stringify(tool)));
  const fresh = added.filter(({ tool }) => !known.has(JSON.stringify(tool)) && known.add(JSON.stringify(tool)));
  return ok(added.length === 0 ? own : [...(own ?? []), ...fresh]);
}
export type BroughtTools = readonly PlacedTool[] | null;

interface ToolBody {
  readonly tools?: readonly ResponseTool[] | null | undefined;
  readonly input?: unknown;
}
type Choice = z.infer<typeof toolChoice> | null | undefined;

/** A tool as the model is offered it. */
interface OfferedTool {
  readonly input: ToolInput;
  /** Where the request has it. */
  readonly field: string;
  readonly form: CallForm | null;
}

function offerOwn(tool: OwnTool, namespace: string | null, field: string): OfferedTool {
  const form: CallForm = { type: tool.type, name: tool.name, namespace };
  const name = toFunctionName(form);
  if (tool.type === "custom") return { input: { name, ...describeTextTool(tool) }, field, form };
  const { description, parameters } = tool;
  const input = { name, parameters: parameters ?? NO_PARAMETERS, ...(description && { description }) };
  return { input, field, form: namespace === null ? null : form };
}

function offerTool({ tool, field }: PlacedTool): readonly OfferedTool[] {
  switch (tool.type) {
    case "function":
    case "custom":
      return [offerOwn(tool, null, field)];
    case "namespace":
      return tool.tools.map((each, nth) => offerOwn(each, tool.name, `${field}.tools.${nth}`));
    case "mcp": {
      const tools = tool.allowed_tools && { tools: tool.allowed_tools };
      return [{ input: { type: "mcp", server: tool.server_label, ...tools }, field, form: null }];
    }
    default:
      return [];
  }
}

const readAllowed = (choice: Choice): readonly AllowedTool[] | null =>
  typeof choice === "object" && choice?.type === "allowed_tools" ? choice.tools : null;

const isAllowed = (allowed: readonly AllowedTool[], { input, form }: OfferedTool): boolean =>
  allowed.some((each) => {
    if (each.type === "mcp") return input.type === "mcp" && input.server === each.server_label;
    if (input.type === "mcp" || !("name" in each) || typeof each.name !== "string") return false;
    return each.type === (form?.type ?? "function") && toFunctionName(toForm(each)) === input.name;
  });

const toForm = ({ name, namespace }: { readonly name: string; readonly namespace?: string | null | undefined }) => ({
  name,
  namespace: namespace ?? null,
});

/** The tools that the model sees. Null: the session's. */
export function listOffered(brought: BroughtTools, choice: Choice): readonly OfferedTool[] | null {
  const allowed = readAllowed(choice);
  const all = brought?.flatMap(offerTool) ?? null;
  // Where nothing is left of what the request brings, it names no tools.
  const offered = all?.length === 0 && (brought ?? []).length > 0 ? null : all;
  return allowed === null ? offered : (offered?.filter((tool) => isAllowed(allowed, tool)) ?? null);
}

/** The names under which the answer reports tools that were left out. */
export const listLeftOut = (brought: BroughtTools): readonly string[] =>
  (brought ?? []).flatMap(({ tool, field }) => (isHosted(tool) ? [`${field}:${tool.type}`] : []));

/** A choice that names what the request does not bring, or that nothing is left of. */
export function findChoiceFault(brought: BroughtTools, choice: Choice): FieldError | null {
  const offered = brought?.flatMap(offerTool) ?? [];
  const hosted = (brought ?? []).flatMap(({ tool }) => (isHosted(tool) ? [tool] : []));
  const allowed = readAllowed(choice);
  const brings = (each: AllowedTool): boolean =>
    hosted.some(({ type }) => type === each.type) || offered.some((tool) => isAllowed([each], tool));
  const strange = allowed?.findIndex((each) => !brings(each)) ?? -1;
  if (strange >= 0) return { field: `tool_choice.tools.${strange}`, detail: "must be one of the request's tools" };
  const isForced = choice === "required" || (typeof choice === "object" && choice?.type === "allowed_tools" && choice.mode === "required");
  if (!isForced || hosted.length === 0 || (listOffered(brought, choice) ?? []).length > 0) return null;
  const types = [...new Set(hosted.map(({ type }) => type))].join(", ");
  return { field: "tool_choice", detail: `a call is required, and no tool is left: only OpenAI runs ${types}` };
}

/** The tool choice as our generation setting. */
export function toToolChoice(given: Choice) {
  if (typeof given !== "object" || given === null) return given;
  return given.type === "allowed_tools" ? given.mode : { name: toFunctionName(toForm(given)) };
}

/** How the client calls what it brought: functions by their own names are left out. `tools`: as the resource repeats them. */
export function listForms(tools: readonly unknown[]): CallForms {
  const offered = tools.flatMap((tool) => {
    const read = responseTool.safeParse(tool);
    return read.success ? offerTool({ tool: read.data, field: "tools" }) : [];
  });
  return new Map(offered.flatMap(({ input, form }) => (form && input.type !== "mcp" ? [[input.name, form] as const] : [])));
}

/** The tools as the resource repeats them: a function with every member, the others as they came, and none that was left out. */
export function echoTools(brought: BroughtTools): ResponseAsked["tools"] {
  return (brought ?? []).flatMap(({ tool }): ResponseAsked["tools"] => {
    if (isHosted(tool)) return [];
    if (tool.type !== "function") return [tool];
    const { type, name, description = null, parameters = null, strict } = tool;
    return [{ type, name, description, parameters, strict: strict ?? false }];
  });
}
