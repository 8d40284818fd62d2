/** Executions: tool calls and their outcomes. */
import { z } from "@hono/zod-openapi";
import type { ExecutionDetail, ExecutionView } from "../../app/execution-views";
import { id, idOrNull, time } from "../../contract/ids";
import { EXECUTION_STATUSES } from "../../domain/execution";
import { TOOL_FAILURES } from "../../domain/tool-run";
import { documents } from "./documents";

const contentState = z.enum(["full", "cut", "redacted", "missing"]);

const artifactView = z.object({
  number: z.int().openapi({ description: "From 0, in the order in which they came" }),
  type: z.string(),
  bytes: z.int().openapi({ description: "Size of its content as JSON" }),
});

const fields = {
  id: id("exe"),
  session_id: id("ses"),
  turn_id: idOrNull("trn").openapi({ description: "Null: the call was imported" }),
  position: z.int().openapi({ description: "Of the call in the conversation" }),
  result_position: z.int().nullable().openapi({ description: "Of its result; null: there is none" }),
  tool_name: z.string(),
  call_id: z.string().openapi({ description: "The provider's own id; may repeat" }),
  runs: z.enum(["client", "server"]).openapi({ description: "Who runs it" }),
  status: z.enum(EXECUTION_STATUSES).openapi({
    description:
      "unknown: it was begun, or imported without a result, and its end was not recorded; cancelled: its turn ended before it was begun, or answered",
  }),
  success: z.boolean().nullable().openapi({ description: "Null: the execution is not over, or its end is unknown" }),
  exit_code: z.int().nullable().openapi({ description: "Of a process; null: none is known" }),
  duration_ms: z.int().nullable().openapi({ description: "From its start to its end. Null: it was not measured" }),
  failure: z
    .enum(TOOL_FAILURES)
    .nullable()
    .openapi({ description: "Null: none, or nothing more is known than is_error of a client's result" }),
  error_message: z.string().nullable().openapi({ description: "The beginning of the output, where it failed" }),
  arguments: z.string().openapi({ description: "JSON text, as the model wrote it" }),
  created_at: time,
  started_at: time.nullable().openapi({ description: "Null: it was not begun here, or has no effect outside" }),
  finished_at: time.nullable().openapi({ description: "Null: the execution is not over, or its end is unknown" }),
};

export const executionView = documents<ExecutionView>()(
  z.object({ ...fields, artifacts: z.array(artifactView).readonly() }).openapi("Execution"),
);

export const executionDetailView = documents<ExecutionDetail>()(
  z
    .object({
      ...fields,
      arguments_state: contentState,
      output: z.string().nullable().openapi({ description: "As it was recorded" }),
      output_state: contentState.nullable().openapi({ description: "Null: there is no result" }),
      artifacts: z
        .array(
          artifactView.extend({
            content: z.unknown().openapi({ description: "Any JSON value; of one that is cut, the beginning of its JSON text" }),
            content_state: contentState,
          }),
        )
        .readonly(),
    })
    .openapi("ExecutionDetail"),
);
