/** Prepares content, ids and estimates of items for a command, before the items have a position. */
import { type GenerationChoice, weighGeneration } from "../../context/generation";
import { estimateParts, estimateRough, estimateThinking } from "../../context/item-tokens";
import { listMedia } from "../../context/media";
import { estimateTokens } from "../../context/tokens";
import type { ItemId, TurnId } from "../../domain/ids";
import { formatBody, type MessageFacts, toSpokenParts } from "../../domain/item-content";
import type { ItemKind, NewItem, Part, TextRef, ToolDefinition, ToolRef, ToolResultPart } from "../../domain/message";
import type { Ids } from "../ports";
import type { BodyText } from "../session-ports";

const utf8 = new TextEncoder();

export interface BuiltItem {
  readonly draft: NewItem;
  readonly body: BodyText;
}

interface ItemInput {
  /** Absent: a new one. */
  readonly id?: ItemId;
  readonly kind: ItemKind;
  readonly parts: readonly Part[];
  readonly turn: TurnId | null;
  readonly at: number;
  readonly tool?: ToolRef;
  readonly about?: MessageFacts;
  /** The model that wrote the item. Only this model gets the provider's metadata back. */
  readonly model?: string;
}

/** An item and its body, under one id. */
export function buildItem(input: ItemInput, ids: Ids): BuiltItem {
  const id = input.id ?? ids.newId("msg");
  const { kind, turn, at, tool, model, about = {} } = input;
  const { name = null, metadata = {}, client_id = null, said_at = null, incomplete = false } = about;
  const content = { parts: input.parts, name, metadata };
  const spoken = toSpokenParts(content);
  const text = formatBody(content);
  const isSigned = model !== undefined && input.parts.some((part) => "provider_metadata" in part);
  const attached = listMedia(input.parts);
  const draft: NewItem = {
    id,
    kind,
    turn,
    at,
    bytes: utf8.encode(text).byteLength,
    tokens: estimateParts(spoken),
    rough: estimateRough(spoken),
    ...(attached.length > 0 ? { media: attached.length, attached } : {}),
    ...(tool ? { tool } : {}),
    ...(said_at !== null && { said_at }),
    ...(client_id !== null && { client_id }),
    ...(incomplete && { incomplete }),
    ...(isSigned ? { signed: { model, tokens: estimateThinking(input.parts) } } : {}),
  };
  return { draft, body: { id, text } };
}

/** The result of a call, ready to be recorded. */
export function buildToolResult(
  {
    call,
    output,
    is_error,
    turn,
    at,
    about,
  }: { readonly call: Pick<ToolRef, "call_id" | "name">; readonly output: string } & Pick<ToolResultPart, "is_error"> &
    Pick<ItemInput, "turn" | "at" | "about">,
  ids: Ids,
): BuiltItem {
  const part = { type: "tool_result", call_id: call.call_id, name: call.name, output, is_error } as const;
  return buildItem({ kind: "tool_result", parts: [part], turn, at, ...(about && { about }) }, ids);
}

/** A text and the reference to it that events carry. A null text gives a null reference. */
export function buildTextBody(text: string | null, ids: Ids): { readonly ref: TextRef | null; readonly bodies: BodyText[] } {
  if (text === null) return { ref: null, bodies: [] };
  const body = ids.newId("bod");
  return { ref: { body, bytes: utf8.encode(text).byteLength, tokens: estimateTokens(text) }, bodies: [{ id: body, text }] };
}

/** A client's note as it is stored. Its token count is 0, because no model reads it. */
export function buildNoteBody(note: string, ids: Ids): { readonly ref: TextRef; readonly bodies: BodyText[] } {
  const body = ids.newId("bod");
  return { ref: { body, bytes: utf8.encode(note).byteLength, tokens: 0 }, bodies: [{ id: body, text: note }] };
}

/** Tool definitions as they are stored, including who runs them. Their token count covers only what the model reads. */
export function buildToolsBody(tools: readonly ToolDefinition[] | null, ids: Ids): ReturnType<typeof buildTextBody> {
  const drafted = buildTextBody(tools && JSON.stringify(tools), ids);
  if (!tools || !drafted.ref) return drafted;
  const told = tools.map(({ name, description, parameters }) => ({ name, ...(description !== undefined && { description }), parameters }));
  return { ...drafted, ref: { ...drafted.ref, tokens: estimateTokens(JSON.stringify(told)) } };
}

/** Generation settings as they are stored. Their token count covers what the model reads of them: the schema of its reply. */
export function buildGenerationBody(generation: GenerationChoice | null, ids: Ids): ReturnType<typeof buildTextBody> {
  const drafted = buildTextBody(generation && JSON.stringify(generation), ids);
  return generation && drafted.ref ? { ...drafted, ref: { ...drafted.ref, tokens: weighGeneration(generation) } } : drafted;
}
