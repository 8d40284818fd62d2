/** Recorded conversations, one JSON object on each line. */
import { readFileSync } from "node:fs";
import { z } from "zod";
import { Failure } from "../support/output.ts";

const toolCall = z.object({ id: z.string().min(1), name: z.string().min(1), arguments: z.string() });
const message = z.discriminatedUnion("role", [
  z.object({ role: z.literal("user"), content: z.string() }),
  z.object({ role: z.literal("assistant"), content: z.string().nullable(), tool_calls: z.array(toolCall).optional() }),
  z.object({ role: z.literal("tool"), content: z.string(), tool_call_id: z.string().min(1) }),
]);
const conversation = z.object({ id: z.string(), system: z.string().nullish(), messages: z.array(message) });

export type RecordedMessage = z.infer<typeof message>;
export type Conversation = z.infer<typeof conversation>;

/** Throws a `Failure` that names the line. `limit`: reads only the first conversations. */
export function readConversations(path: string, limit: number): readonly Conversation[] {
  const lines = readText(path)
    .split("\n")
    .filter((line) => line.trim() !== "");
  return lines.slice(0, limit).map((line, index) => parseLine(line, `${path}:${index + 1}`));
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new Failure(`${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function parseLine(line: string, where: string): Conversation {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    throw new Failure(`${where} is not JSON`);
  }
  const parsed = conversation.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new Failure(`${where} is not a recorded conversation: ${issue?.path.join(".")}: ${issue?.message}`);
}
