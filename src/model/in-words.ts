/** What a model cannot be given as it is, named in words. */
import type { ToolCallPart, ToolResultPart } from "../domain/message";

export const callInWords = ({ name, arguments: input }: ToolCallPart): string => `[Called the tool ${name} with ${input}]`;

export const resultInWords = ({ name, output, is_error }: ToolResultPart): string =>
  `[The tool ${name} ${is_error ? "failed" : "answered"}: ${output}]`;
