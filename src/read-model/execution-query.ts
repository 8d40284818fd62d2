/** Reads one execution of a tenant, from any of its sessions, with its arguments, its output and its artifacts. */
import { and, asc, eq, sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import type { ExecutionInput, ExecutionReader } from "../app/read-api";
import type { ContentState, ExecutionDetail } from "../contract/execution";
import { parseId } from "../domain/ids";
import { databaseFor, type ReadModelEnv } from "./database-for";
import { parseParts } from "./message-row";
import { executionArtifacts, executions, messages } from "./schema";

export function createExecutionReader(env: ReadModelEnv): ExecutionReader {
  return { readExecution: async (input) => readExecution(await databaseFor(env, input.tenant), input) };
}

async function readExecution(db: D1Database, { tenant, execution }: ExecutionInput): Promise<ExecutionDetail | null> {
  const [found] = await drizzle(db)
    .select({ row: executions, content: messages.content, contentState: messages.contentState })
    .from(executions)
    .leftJoin(
      messages,
      and(
        eq(messages.tenantId, executions.tenantId),
        eq(messages.sessionId, executions.sessionId),
        eq(messages.position, executions.resultPosition),
      ),
    )
    .where(and(eq(executions.tenantId, tenant), eq(executions.id, execution)))
    .limit(1);
  const session = found && parseId("ses", found.row.sessionId);
  if (!found || !session) return null;
  const { row, content, contentState } = found;
  return {
    id: execution,
    session_id: session,
    turn_id: row.turnId === null ? null : parseId("trn", row.turnId),
    position: row.position,
    result_position: row.resultPosition,
    tool_name: row.toolName,
    call_id: row.callId,
    runs: row.runs,
    status: row.status,
    success: row.success === null ? null : row.success === 1,
    exit_code: row.exitCode,
    duration_ms: row.durationMs,
    failure: row.failure,
    error_message: row.errorMessage,
    arguments: row.argumentsJson,
    arguments_state: row.argumentsState,
    created_at: row.timestamp,
    started_at: row.startedAt,
    finished_at: row.finishedAt,
    output: readOutput(content),
    output_state: contentState === null ? null : toState(contentState),
    artifacts: await readArtifacts(db, { tenant, session, execution }),
  };
}

const toState = (state: string): ContentState => (["full", "cut", "redacted"] as const).find((known) => known === state) ?? "missing";

function readOutput(content: string | null): string | null {
  const part = content === null ? undefined : parseParts(content)?.find((each) => each.type === "tool_result");
  return part?.output ?? null;
}

/** Artifact ids begin with the execution's id and a slash. `0` follows the slash in ASCII, so the range holds exactly those ids. */
async function readArtifacts(
  db: D1Database,
  { tenant, session, execution }: ExecutionInput & { readonly session: string },
): Promise<ExecutionDetail["artifacts"]> {
  const rows = await drizzle(db)
    .select()
    .from(executionArtifacts)
    .where(
      and(
        eq(executionArtifacts.tenantId, tenant),
        eq(executionArtifacts.sessionId, session),
        sql`${executionArtifacts.id} > ${`${execution}/`} AND ${executionArtifacts.id} < ${`${execution}0`}`,
      ),
    )
    .orderBy(asc(executionArtifacts.id));
  return rows.map(({ number, artifactType: type, contentJson, contentState: content_state, bytes }) => {
    const content: unknown = content_state === "full" ? JSON.parse(contentJson) : content_state === "cut" ? contentJson : null;
    return { number, type, bytes, content, content_state };
  });
}
