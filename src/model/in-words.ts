/** What a model cannot be given as it is, named in words. */
import type { MediaPart, ToolCallPart, ToolResultPart } from "../domain/message";

export const mediaInWords = ({ name, media_type, url }: MediaPart): string => `[file: ${name ?? media_type} (${media_type}) ${url}]`;

export const callInWords = ({ name, arguments: input }: ToolCallPart): string => `[Called the tool ${name} with ${input}]`;

export const resultInWords = ({ name, output, is_error }: ToolResultPart): string =>
  `[The tool ${name} ${is_error ? "failed" : "answered"}: ${output}]`;
