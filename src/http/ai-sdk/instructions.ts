/**
 * The instructions and tools that a page sends with its messages, as assistant-ui does. The user of a page can change them, so that they count
 * only where the key says so; else the session's hold, and the answer names what was ignored.
 */
import { z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { MAX_OFFERED_TOOLS } from "../../app/tool-entry";
import { boundsFault } from "../../app/tools/schema-bounds";
import type { ToolDefinition } from "../../domain/message";
import { err, ok, type Result } from "../../lib/result";
import { readPrincipal } from "../auth";
import type { HttpEnv } from "../deps";
import type { RequestError } from "../problem";
import { NO_PARAMETERS, parametersWith, toolDescription, toolName } from "../schemas/tool";
import { noteIgnored } from "../surface/ignored";
import { toFieldErrors } from "../validation";

export interface Instructions {
  /** Null: the session's. */
  readonly system: string | null;
  /** Null: the session's. */
  readonly tools: readonly ToolDefinition[] | null;
}

/** True for a field that asks for nothing, as some clients send it. */
const isEmpty = (value: unknown): boolean =>
  value === undefined || value === null || value === "" || (typeof value === "object" && Object.keys(value).length === 0);

/** Tools by their names, as the AI SDK has them, with a JSON schema each. */
const pageTools = z
  .record(toolName, z.looseObject({ description: toolDescription.nullish(), parameters: parametersWith(boundsFault).optional() }))
  .refine((tools) => Object.keys(tools).length <= MAX_OFFERED_TOOLS, `at most ${MAX_OFFERED_TOOLS} tools`)
  .transform((tools) => Object.entries(tools).map(([name, tool]): ToolDefinition => toTool(name, tool)));

const toTool = (name: string, { description, parameters = NO_PARAMETERS }: PageTool): ToolDefinition => ({
  name,
  parameters,
  ...(description && { description }),
});

interface PageTool {
  readonly description?: string | null | undefined;
  readonly parameters?: Readonly<Record<string, unknown>> | undefined;
}

const given = z.object({ system: z.string("must be a text").nullish(), tools: pageTools.nullish() });

export function readInstructions(
  c: Context<HttpEnv>,
  sent: Readonly<Record<"system" | "tools", unknown>>,
): Result<Instructions, RequestError> {
  const named = (["system", "tools"] as const).filter((name) => !isEmpty(sent[name]));
  if (named.length === 0) return ok({ system: null, tools: null });
  if (readPrincipal(c).clients?.chat_instructions !== "take") {
    noteIgnored(c, named);
    return ok({ system: null, tools: null });
  }
  const parsed = given.safeParse(Object.fromEntries(named.map((name) => [name, sent[name]])));
  if (!parsed.success) return err({ code: "invalid_request", errors: toFieldErrors(parsed.error.issues) });
  const { system = null, tools = null } = parsed.data;
  return ok({ system, tools });
}
