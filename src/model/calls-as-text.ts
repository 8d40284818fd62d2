/** Tool calls and results as text, for requests that cannot hold them as such. */
import type { ToolCallPart, ToolResultPart } from "../domain/message";

export const callInWords = ({ name, arguments: input }: ToolCallPart): string => `[Called the tool ${name} with ${input}]`;

export const resultInWords = ({ name, output, is_error }: ToolResultPart): string =>
  `[The tool ${name} ${is_error ? "failed" : "answered"}: ${output}]`;
