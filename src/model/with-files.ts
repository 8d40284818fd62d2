/**
 * Puts the content of stored files into a request, just before an adapter builds it. The log and the plans know files by id only. What is
 * sent of each file follows the rules by which it was weighed (`context/media`).
 */
import type { FileReader } from "../app/file-api";
import type { CallOptions, ChatMessage, ChatModel, ModelRequest, ModelStreamPart } from "../app/ports";
import { chooseForms, describeMediaPart, type MediaForm, toMediaMeta } from "../context/media";
import type { MediaPart, Part, StoredMedia } from "../domain/message";
import { assertNever } from "../lib/assert-never";
import { ABORTED, toThrownFailure } from "./call-failure";

const isMedia = (part: Part): part is MediaPart => part.type === "image" || part.type === "file";
const isStored = (part: Part): part is StoredMedia => isMedia(part) && "file_id" in part;
const hasFiles = ({ messages }: ModelRequest): boolean => messages.some(({ parts }) => parts.some(isStored));

/** `files`: the reader of the calling tenant's files. */
export function withFiles(model: ChatModel, files: FileReader): ChatModel {
  return {
    stream: (request, options) =>
      hasFiles(request) ? streamWithFiles({ model, files, request, options }) : model.stream(request, options),
    render: async (request) => model.render(hasFiles(request) ? await fillRequest(request, files) : request),
  };
}

interface Call {
  readonly model: ChatModel;
  readonly files: FileReader;
  readonly request: ModelRequest;
  readonly options: CallOptions;
}

/** A store that is out of reach fails the call as a provider would that is out of reach: it is tried again. */
async function* streamWithFiles({ model, files, request, options }: Call): AsyncGenerator<ModelStreamPart, void, undefined> {
  let filled: ModelRequest;
  try {
    filled = await fillRequest(request, files);
  } catch (error) {
    return yield { type: "failure", failure: toThrownFailure(error, options.signal) };
  }
  if (options.signal.aborted) return yield ABORTED;
  yield* model.stream(filled, options);
}

async function fillRequest(request: ModelRequest, files: FileReader): Promise<ModelRequest> {
  const messages: ChatMessage[] = [];
  for (const message of request.messages) messages.push(await fillMessage(message, request, files));
  return { ...request, messages };
}

async function fillMessage(message: ChatMessage, request: ModelRequest, files: FileReader): Promise<ChatMessage> {
  if (!message.parts.some(isStored)) return message;
  const forms = [...chooseForms(request.model, message.parts.filter(isMedia).map(toMediaMeta))];
  const parts: Part[] = [];
  for (const part of message.parts) {
    const form = isMedia(part) ? forms.shift() : undefined;
    parts.push(isStored(part) && form ? await fillPart(part, { form, files, at: request.at }) : part);
  }
  return { ...message, parts };
}

interface Filling {
  readonly form: MediaForm;
  readonly files: FileReader;
  readonly at: number | undefined;
}

async function fillPart(part: StoredMedia, { form, files, at }: Filling): Promise<Part> {
  switch (form) {
    case "words":
      return { type: "text", text: describeMediaPart(part) };
    case "text": {
      const text = await files.readText(part.file_id);
      return { type: "text", text: text === null ? describeGone(part) : `${describeMediaPart(part)}\n\n${text}` };
    }
    case "data": {
      const data = await files.readBase64(part.file_id);
      return data === null ? { type: "text", text: describeGone(part) } : toLinked(part, `data:${part.media_type};base64,${data}`);
    }
    case "url": {
      const url = await files.findAddress(part.file_id, at);
      if (url === "gone") return { type: "text", text: describeGone(part) };
      return url === null ? { type: "text", text: describeMediaPart(part) } : toLinked(part, url);
    }
    default:
      return assertNever(form);
  }
}

const toLinked = ({ type, media_type, name }: StoredMedia, url: string): MediaPart => ({
  type,
  media_type,
  url,
  ...(name !== undefined && { name }),
});

const describeGone = ({ name, media_type }: StoredMedia): string => `[file: ${name ?? media_type} (${media_type}), deleted since]`;
