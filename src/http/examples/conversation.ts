/** Examples of a session, its messages and turns. */
import type { z } from "@hono/zod-openapi";
import { presets } from "../../context/presets";
import type { branchComparison, branchView } from "../../contract/branch";
import type { eventView } from "../../contract/event";
import type { executionDetail, executionView } from "../../contract/execution";
import type { streamFrame } from "../../contract/frame";
import type { acceptedView, displayItem, importedMessages } from "../../contract/item";
import type { usageSums } from "../../contract/model-call";
import type { pinsView } from "../../contract/pin";
import type { scheduleView } from "../../contract/schedule";
import type { sessionDescription, sessionErasure, sessionSummary } from "../../contract/session";
import type { foundSession } from "../../contract/session-search";
import type { turnReport, turnSettings } from "../../contract/turn";
import type { batchInput } from "../schemas/message";
import type { respondInput } from "../schemas/respond";
import { ANSWER, AT, ERASURE, EXECUTION, QUESTION, SECOND, SESSION, TURN } from "./shared";

export const questionExample: z.input<typeof displayItem> = {
  id: QUESTION,
  position: 1,
  role: "user",
  content: [{ type: "text", text: "What is the weather in Lisbon?" }],
  name: null,
  client_id: null,
  metadata: {},
  turn_id: TURN,
  created_at: AT,
  recorded_at: AT,
  incomplete: false,
  tokens: { tokens: 12, source: "estimated", error_bound: 16 },
};

export const answerExample: z.input<typeof displayItem> = {
  ...questionExample,
  id: ANSWER,
  position: 2,
  role: "assistant",
  content: [{ type: "text", text: "It is sunny in Lisbon, 21 °C." }],
  created_at: AT + 2 * SECOND,
  recorded_at: AT + 2 * SECOND,
  tokens: { tokens: 14, source: "estimated", error_bound: 16 },
};

export const acceptedExample: z.input<typeof acceptedView> = {
  message_id: QUESTION,
  turn_id: TURN,
  position: 1,
  queued: false,
  cursor: 41,
};

export const importExample = {
  items: [
    { role: "user", content: "What is the weather in Lisbon?", name: "Ada", created_at: AT },
    { role: "assistant", content: "It is sunny in Lisbon, 21 °C.", created_at: AT + 2 * SECOND },
  ],
} satisfies z.input<typeof batchInput>;

export const respondExample = {
  after: TURN,
  results: [{ execution_id: EXECUTION, output: { sky: "clear", celsius: 21 } }],
  messages: [{ content: "And what do I wear?" }],
} satisfies z.input<typeof respondInput>;

export const importedExample: z.input<typeof importedMessages> = {
  data: [
    { id: QUESTION, position: 1, client_id: null },
    { id: ANSWER, position: 2, client_id: null },
  ],
  cursor: 40,
};

const figure = { tokens: 412, source: "reported", error_bound: 0 } as const;

export const turnExample: z.input<typeof turnReport> = {
  id: TURN,
  status: "completed",
  finish: "stop",
  failure: null,
  attempt: 1,
  created_at: AT,
  ended_at: AT + 2 * SECOND,
  message_id: QUESTION,
  items: [answerExample],
  items_truncated: false,
  output_text: "It is sunny in Lisbon, 21 °C.",
  open_calls: [],
  model: "gpt-5",
  usage: { input: 398, output: 14, cached: 256, reasoning: 0 },
  cost: 0.0004,
  context_window: 128_000,
  assumed_window: null,
  current_context_tokens: figure,
  notices: [],
};

export const stoppedTurnExample: z.input<typeof turnReport> = { ...turnExample, status: "stopped", finish: null };

export const turnSettingsExample: z.input<typeof turnSettings> = {
  model: "gpt-5",
  system: "You answer in Portuguese.",
  tools: [],
  generation: { reasoning: { effort: "low" } },
  note: '{"page":"/weather"}',
  redacted: false,
};

export const usageSumsExample: z.input<typeof usageSums> = {
  calls: 1,
  failed_calls: 0,
  input: 398,
  uncached: 142,
  cached: 256,
  cache_write: 0,
  output: 14,
  reasoning: 0,
  cost: 0.0004,
  unpriced_calls: 0,
  cost_complete: true,
};

export const pinsExample: z.input<typeof pinsView> = {
  pins: [
    { text: "The user's name is Ada.", message_id: null, position: null },
    { text: "Message 1, user: What is the weather in Lisbon?", message_id: QUESTION, position: 1 },
  ],
};

export const scheduleExample: z.input<typeof scheduleView> = {
  name: "briefing",
  cron: "0 9 * * 1-5",
  timezone: "Europe/Lisbon",
  at: null,
  message: "Give me today's briefing.",
  next_at: 1_795_424_400_000,
  last_run: null,
  updated_at: AT,
};

export const sessionExample: z.input<typeof sessionDescription> = {
  id: SESSION,
  model: "gpt-5",
  policy: "balanced",
  effective_policy: presets.balanced,
  summary_instructions: null,
  system: "You answer in one sentence.",
  tools: [],
  pins: pinsExample.pins,
  title: "Weather",
  external_id: "ticket-4711",
  end_user: "user-42",
  metadata: { channel: "web" },
  generation: { reasoning: { effort: "low" } },
  etag: '"9f86d081884c7d65"',
  created_at: AT,
  updated_at: AT + 2 * SECOND,
  archived_at: null,
  message_count: 2,
  epoch: 0,
  branch: 1,
  branches: 1,
  forked_from: null,
  compacted_summary: null,
  compact_boundary_timestamp: null,
  context_window: 128_000,
  assumed_window: null,
  current_context_tokens: figure,
  total_tokens: 412,
  usage: usageSumsExample,
  breaker: { open: false, failures: 0, fruitless: 0, closes_after: null },
  turn: null,
  last_turn: { id: TURN, status: "completed", failure: null },
  queued: [],
  stream_offset: 48,
};

export const archivedExample: z.input<typeof sessionDescription> = { ...sessionExample, archived_at: AT + 60 * SECOND };

export const sessionSummaryExample: z.input<typeof sessionSummary> = {
  id: SESSION,
  title: "Weather",
  external_id: "ticket-4711",
  end_user: "user-42",
  metadata: { channel: "web" },
  model: "gpt-5",
  message_count: 2,
  last_message_preview: "It is sunny in Lisbon, 21 °C.",
  created_at: AT,
  updated_at: AT + 2 * SECOND,
  archived_at: null,
  compacted: false,
};

export const foundSessionExample: z.input<typeof foundSession> = {
  session: sessionSummaryExample,
  score: 12.5,
  in_title: true,
  matches: [{ id: ANSWER, position: 2, role: "assistant", created_at: AT + SECOND, snippet: "It is sunny in Lisbon, 21 °C." }],
};

export const erasureExample: z.input<typeof sessionErasure> = {
  id: SESSION,
  erasure_id: ERASURE,
  erased_at: AT,
  stores: [
    { store: "session", status: "erased", rows: 24 },
    { store: "read_model", status: "erased", rows: 9 },
    { store: "files", status: "erased", rows: 0 },
    { store: "exports", status: "erased", rows: null },
    { store: "directory", status: "erased", rows: 1 },
  ],
};

export const branchExample: z.input<typeof branchView> = {
  number: 2,
  parent: 1,
  shared_to: 0,
  created_at: AT,
  left_at: null,
  current: true,
  messages: 2,
  last_position: 4,
};

export const branchComparisonExample: z.input<typeof branchComparison> = {
  shared_to: 1,
  shared_messages: 1,
  a: { number: 1, items: [answerExample], has_more: false },
  b: { number: 2, items: [], has_more: false },
};

const endedExecution = {
  id: EXECUTION,
  session_id: SESSION,
  turn_id: TURN,
  position: 2,
  result_position: 3,
  tool_name: "weather",
  call_id: "call_1",
  runs: "server" as const,
  status: "succeeded" as const,
  success: true,
  exit_code: null,
  duration_ms: 180,
  failure: null,
  error_message: null,
  arguments: '{"city":"Lisbon"}',
  created_at: AT,
  started_at: AT,
  finished_at: AT + SECOND,
};

export const executionExample: z.input<typeof executionView> = {
  ...endedExecution,
  item_id: ANSWER,
  approval: { answer: "approved", turn_waited: true },
  artifacts: [],
};

export const executionDetailExample: z.input<typeof executionDetail> = {
  ...endedExecution,
  arguments_state: "full",
  output: '{"sky":"clear","celsius":21}',
  output_state: "full",
  artifacts: [],
};

export const frameExample: z.input<typeof streamFrame> = { type: "text.delta", turn_id: TURN, message_id: ANSWER, text: "It is sunny" };

export const eventExample: z.input<typeof eventView> = { seq: 9, at: AT, type: "TurnCompleted", turn: TURN, finish: "stop" };
