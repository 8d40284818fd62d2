/** The events and texts of a session in an export's file, held to what the API and the models' replies could have stored. */
import { z } from "@hono/zod-openapi";
import { MAX_OFFERED_TOOLS } from "../../app/tool-entry";
import { boundsFault } from "../../app/tools/schema-bounds";
import type { NamedText, TextRole } from "../../app/transfer/named-texts";
import type { RecordCheck } from "../../app/transfer/read-export";
import { generationSchema } from "../../context/generation";
import { instructionsText } from "../../context/policy";
import { reasoningPart, storedMediaPart, textPart } from "../../contract/item";
import { endUser, externalId, sessionTitle, speaker } from "../../contract/label";
import { storedEvent } from "../../contract/stored-event";
import { fileMapping } from "../../contract/tool";
import { MAX_CALL_ID_UNITS, MAX_TOOL_NAME_UNITS } from "../../domain/message";
import { findJsonFault } from "../json-check";
import { generationInput } from "./generation";
import { scheduleInput } from "./schedule";
import { metadataInput } from "./session";
import { parametersWith, toolDescription, toolName } from "./tool";

const signed = { provider_metadata: z.record(z.string(), z.unknown()).optional() };
/** A reply may hold an empty text beside others. */
const anyText = z.string();
const text = textPart.extend({ ...signed, text: anyText });
const reasoning = reasoningPart.extend({ ...signed, text: anyText });
const named = { call_id: z.string().max(MAX_CALL_ID_UNITS), name: z.string().max(MAX_TOOL_NAME_UNITS) };
const call = z.strictObject({ ...signed, ...named, type: z.literal("tool_call"), arguments: anyText });
const result = z.strictObject({ ...named, type: z.literal("tool_result"), output: anyText, is_error: z.boolean() });

/** A reply may hold more parts than a message. */
const MAX_PARTS = 1_024;
/** Parts alone, or with who speaks and the client's metadata. */
const toContent = <S extends z.ZodType>(part: S) => {
  const parts = z.array(part).max(MAX_PARTS);
  return z.union([parts, z.strictObject({ parts, name: speaker.nullable(), metadata: metadataInput })]);
};

const runs = z.discriminatedUnion("by", [
  z.strictObject({ by: z.literal("http"), tool: anyText }),
  z.strictObject({ by: z.literal("mcp"), server: anyText, tool: anyText }),
  z.strictObject({ by: z.literal("builtin") }),
]);
const tool = z.strictObject({
  name: toolName,
  description: toolDescription.optional(),
  parameters: parametersWith(boundsFault),
  runs: runs.optional(),
  needs_approval: z.literal(true).optional(),
  files: fileMapping.optional(),
});

/** The schemas of texts that are JSON. */
const JSON_SCHEMAS: Partial<Record<TextRole, z.ZodType>> = {
  user: toContent(z.union([text, storedMediaPart])),
  assistant: toContent(z.union([text, reasoning])),
  system: toContent(text),
  tool_call: toContent(z.union([text, reasoning, call])),
  tool_result: toContent(result),
  tools: z.array(tool).max(MAX_OFFERED_TOOLS),
  metadata: metadataInput,
  generation: generationInput.pipe(generationSchema),
  turn_generation: generationInput,
  artifact: z.unknown(),
};

const TEXT_SCHEMAS: Partial<Record<TextRole, z.ZodType>> = {
  title: sessionTitle,
  external_id: externalId,
  end_user: endUser,
  instructions: instructionsText,
  scheduled: scheduleInput.shape.message,
};

const toFault = (parsed: z.ZodSafeParseResult<unknown>): string | null =>
  parsed.success ? null : [parsed.error.issues[0]?.path.join("."), parsed.error.issues[0]?.message].filter(Boolean).join(": ");

function parseJson(written: string): { readonly value: unknown } | null {
  try {
    return { value: JSON.parse(written) };
  } catch {
    return null;
  }
}

/** A call and its result are found by what their item says of them. */
function findCallFault(value: unknown, { role, tool: said }: NamedText): string | null {
  if (role !== "tool_call" && role !== "tool_result") return null;
  const parts = z
    .union([z.array(z.unknown()), z.object({ parts: z.array(z.unknown()) }).transform((content) => content.parts)])
    .parse(value);
  const calls = parts.flatMap(
    (part) => z.object({ type: z.literal(role), call_id: z.string(), name: z.string() }).safeParse(part).data ?? [],
  );
  const [only] = calls;
  return calls.length === 1 && only?.call_id === said?.call_id && only?.name === said?.name ? null : `must be the ${role} of its item`;
}

const findTextFault: RecordCheck["findTextFault"] = (id, written) => {
  const schema = JSON_SCHEMAS[id.role];
  if (!schema) return toFault((TEXT_SCHEMAS[id.role] ?? anyText).safeParse(written));
  const parsed = parseJson(written);
  if (!parsed) return "is not JSON";
  const fault = findJsonFault(written);
  if (fault) return `${fault.field}: ${fault.detail}`;
  return toFault(schema.safeParse(parsed.value)) ?? findCallFault(parsed.value, id);
};

const findEventFault: RecordCheck["findEventFault"] = ({ seq: _, at: __, ...event }) => toFault(storedEvent.safeParse(event));

export const recordCheck: RecordCheck = { findEventFault, findTextFault };
