/** Builds the rows of executions: a call, its result and its artifacts, cut to what a D1 row can hold. Pure. */
import { takeHead } from "../context/tool-results";
import type { StoredEvent } from "../domain/events";
import { ERROR_MESSAGE_CHARS, hasErrorMessage, type RunsAt, statusOfCall, statusOfResult, toSuccess } from "../domain/execution";
import type { BodyId } from "../domain/ids";
import type { ItemMeta, Part } from "../domain/message";
import type { Artifact, ToolRun } from "../domain/tool-run";
import { byteLength, MAX_ROW_CONTENT_BYTES, parseParts } from "./message-row";
import type { ArtifactRow, ExecutionColumns, ExecutionEnd, RowOp } from "./row-ops";

type Bodies = ReadonlyMap<BodyId, string>;
type Stamp = Pick<StoredEvent, "seq" | "at">;

/** Returns no operation when the item names no call. */
export function callOps(item: ItemMeta, runs: RunsAt, { stamp, bodies }: { stamp: Stamp; bodies: Bodies }): readonly RowOp[] {
  return item.tool ? [{ ...stamp, op: "insert_execution", row: toExecutionRow(item, item.tool, { runs, bodies }) }] : [];
}

export function resultOps(item: ItemMeta, ran: ToolRun | null, { stamp, bodies }: { stamp: Stamp; bodies: Bodies }): readonly RowOp[] {
  const { tool } = item;
  if (!tool) return [];
  const artifacts = (ran?.artifacts ?? []).map((artifact, number) => toArtifactRow(tool.execution, { artifact, number }, bodies));
  return [
    { ...stamp, op: "change_execution", id: tool.execution, changes: toExecutionEnd(item, ran, { at: stamp.at, bodies }) },
    ...artifacts.map((row): RowOp => ({ ...stamp, op: "insert_artifact", row })),
  ];
}

/** Builds the rows of the calls and results in an imported message. */
export function importedOps(items: readonly ItemMeta[], to: { stamp: Stamp; bodies: Bodies }): readonly RowOp[] {
  return items.flatMap((item) =>
    item.kind === "tool_call" ? callOps(item, "client", to) : item.kind === "tool_result" ? resultOps(item, null, to) : [],
  );
}

function toExecutionRow(
  { id, position, turn, at }: ItemMeta,
  tool: NonNullable<ItemMeta["tool"]>,
  { runs, bodies }: { runs: RunsAt; bodies: Bodies },
): ExecutionColumns {
  const written = readPart(id, "tool_call", bodies)?.arguments;
  const bounded = boundText(written ?? "", MAX_ROW_CONTENT_BYTES);
  return {
    id: tool.execution,
    turn_id: turn,
    position,
    tool_name: tool.name,
    call_id: tool.call_id,
    runs,
    status: statusOfCall(turn),
    arguments_json: bounded.text,
    arguments_state: written === undefined ? "missing" : bounded.cut ? "cut" : "full",
    timestamp: at,
  };
}

function toExecutionEnd(item: ItemMeta, ran: ToolRun | null, { at, bodies }: { at: number; bodies: Bodies }): ExecutionEnd {
  const failure = ran?.failure ?? null;
  const status = statusOfResult(item.tool?.is_error === true, failure);
  const success = toSuccess(status);
  const output = hasErrorMessage(status) ? readPart(item.id, "tool_result", bodies)?.output : undefined;
  return {
    status,
    success: success === null ? null : success ? 1 : 0,
    exit_code: ran?.exit_code ?? null,
    duration_ms: ran?.ms ?? null,
    failure,
    error_message: output === undefined ? null : takeHead(output, ERROR_MESSAGE_CHARS),
    result_position: item.position,
    finished_at: at,
  };
}

function toArtifactRow(execution: string, { artifact, number }: { artifact: Artifact; number: number }, bodies: Bodies): ArtifactRow {
  const text = bodies.get(artifact.body);
  const bounded = boundText(text ?? "null", MAX_ROW_CONTENT_BYTES);
  return {
    id: `${execution}/${String(number).padStart(2, "0")}`,
    execution_id: execution,
    number,
    artifact_type: artifact.type,
    content_json: bounded.text,
    content_state: text === undefined ? "missing" : bounded.cut ? "cut" : "full",
    bytes: artifact.bytes,
  };
}

function readPart<T extends Part["type"]>(id: BodyId, type: T, bodies: Bodies): Extract<Part, { type: T }> | undefined {
  return parseParts(bodies.get(id))?.find((part): part is Extract<Part, { type: T }> => part.type === type);
}

/** Returns the beginning of `text`, at most `maxBytes` in UTF-8. */
function boundText(text: string, maxBytes: number): { readonly text: string; readonly cut: boolean } {
  if (text.length * 3 <= maxBytes || byteLength(text) <= maxBytes) return { text, cut: false };
  return { text: takeHead(text, Math.floor(maxBytes / 3)), cut: true };
}
