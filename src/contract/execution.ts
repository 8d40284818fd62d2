/** Executions: tool calls, which side ran them, and their results. */
import { z } from "@hono/zod-openapi";
import { EXECUTION_STATUSES } from "../domain/execution";
import { TOOL_FAILURES } from "../domain/tool-run";
import { id, idOrNull, time } from "./ids";

const contentState = z
  .enum(["full", "cut", "redacted", "missing"])
  .openapi({ description: "cut: only the beginning is included; missing, redacted: the content is not available" });
export type ContentState = z.infer<typeof contentState>;

const artifactView = z.object({
  number: z.int().openapi({ description: "Counts from 0, in the order of arrival" }),
  type: z.string(),
  bytes: z.int().openapi({ description: "Size of its content as JSON, in UTF-8" }),
});

const fields = {
  id: id("exe"),
  session_id: id("ses"),
  turn_id: idOrNull("trn").openapi({ description: "Null if the call was imported" }),
  position: z.int().openapi({ description: "The call's position in the conversation" }),
  result_position: z.int().nullable().openapi({ description: "The result's position. Null if there is no result" }),
  tool_name: z.string(),
  call_id: z.string().openapi({ description: "The provider's own id of the call, which may repeat" }),
  runs: z.enum(["client", "server"]).openapi({ description: "Which side runs the call" }),
  status: z.enum(EXECUTION_STATUSES).openapi({
    description:
      "unknown: the call started, or was imported without a result, and its end was not recorded; cancelled: its turn ended before the call started or was answered",
  }),
  success: z.boolean().nullable().openapi({ description: "Null if the call has not ended, or its outcome is unknown" }),
  exit_code: z.int().nullable().openapi({ description: "The exit code of a process. Null if unknown" }),
  duration_ms: z.int().nullable().openapi({ description: "From the start to the end. Null if it was not measured" }),
  failure: z
    .enum(TOOL_FAILURES)
    .nullable()
    .openapi({ description: "Null if the call did not fail, or if the client reported a failure without details" }),
  error_message: z.string().nullable().openapi({ description: "The beginning of the output of a failed call" }),
  arguments: z.string().openapi({ description: "JSON text, as the model wrote it" }),
  created_at: time.openapi({ description: "When the call was recorded, epoch milliseconds" }),
  started_at: time
    .nullable()
    .openapi({ description: "Null if the call did not start here, has no effect outside, or was run by the client" }),
  finished_at: time.nullable().openapi({ description: "Null if the call has not ended, or its end is unknown" }),
};

const approvalView = z.object({
  answer: z.enum(["approved", "denied"]).nullable().openapi({ description: "Null until a person has answered" }),
  turn_waited: z.boolean().openapi({ description: "The turn has waited for the answer. false: other calls ran meanwhile" }),
});

export const executionView = z
  .object({
    ...fields,
    item_id: id("msg").openapi({ description: "The call's own id, as `tool_calls` of its message has it" }),
    approval: approvalView.nullable().openapi({ description: "Null if no person was asked" }),
    artifacts: z.array(artifactView).readonly(),
  })
  .openapi("Execution");
export type ExecutionView = z.infer<typeof executionView>;

export const executionDetail = z
  .object({
    ...fields,
    arguments_state: contentState,
    output: z
      .string()
      .nullable()
      .openapi({ description: "The output as it was recorded. Null if there is none yet, or it is not available" }),
    output_state: contentState.nullable().openapi({ description: "Null if there is no result" }),
    artifacts: z
      .array(
        artifactView.extend({
          content: z.unknown().openapi({ description: "Any JSON value. For a cut artifact, the beginning of its JSON text" }),
          content_state: contentState,
        }),
      )
      .readonly(),
  })
  .openapi("ExecutionDetail", { description: "An execution from the read model, with its content" });
export type ExecutionDetail = z.infer<typeof executionDetail>;
