/** What a request said, as items that a client could send: `read-items.ts` reads them back. Pure. */
import { z } from "@hono/zod-openapi";
import type { PartInput } from "../../schemas/message";
import type { ReadInput, ReadMessage } from "./transcript";

type Item = Readonly<Record<string, unknown>>;

export const toGivenItems = ({ results, messages }: Pick<ReadInput, "results" | "messages">): readonly Item[] => [
  ...results.map(({ result: { call_id, output, is_error } }) => toOutput({ call_id: call_id ?? "", output, is_error })),
  ...messages.flatMap(toItems),
];

const toOutput = ({ is_error, ...result }: { readonly call_id: string; readonly output: string; readonly is_error: boolean }): Item => ({
  type: "function_call_output",
  ...result,
  status: is_error ? "incomplete" : "completed",
});

function toItems(message: ReadMessage): readonly Item[] {
  if (message.role === "tool") return [toOutput({ call_id: message.call_id, output: message.output, is_error: message.is_error })];
  const { role, parts, calls, incomplete } = message;
  if (role !== "assistant") return [{ type: "message", role, content: parts.map(({ part }) => toContentPart(part)) }];
  const status = incomplete ? "incomplete" : "completed";
  const said = parts.flatMap(({ part }): Item[] => {
    if (part.type === "reasoning") return [{ type: "reasoning", status, summary: [{ type: "summary_text", text: part.text }] }];
    return part.type === "text" ? [{ type: "message", role, status, content: [{ type: "output_text", text: part.text }] }] : [];
  });
  return [...said, ...calls.map((call): Item => ({ type: "function_call", ...call, status }))];
}

/** A file is named as the client has named it: what this service stored of it may end with the request. */
function toContentPart(part: PartInput): Item {
  if (part.type === "text" || part.type === "reasoning") return { type: "input_text", text: part.text };
  const file = part.file_id !== undefined && { file_id: part.file_id };
  if (part.type === "image") return { type: "input_image", ...(part.url !== undefined && { image_url: part.url }), ...file };
  const name = part.name !== undefined && { filename: part.name };
  return { type: "input_file", ...(part.url !== undefined && { file_url: part.url }), ...file, ...name };
}

const withFile = z.looseObject({ file_id: z.string() });

/** Items with files in their place. `files`: by the id that the items have. */
export function withGivenFiles(items: readonly Item[], files: ReadonlyMap<string, PartInput>): readonly Item[] {
  const replace = (part: unknown): unknown => {
    const read = withFile.safeParse(part);
    const given = read.success ? files.get(read.data.file_id) : undefined;
    return given ? toContentPart(given) : part;
  };
  return items.map((item) => (Array.isArray(item.content) ? { ...item, content: item.content.map(replace) } : item));
}
