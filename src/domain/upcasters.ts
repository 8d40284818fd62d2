/**
 * Converts old shapes of stored events, one version at a time. Each has a frozen fixture in `test/fixtures`. The input
 * is JSON as it was stored; data that does not have the old shape passes through and is validated where it is used.
 */
type Fields = Record<string, unknown>;
type Upcaster = (data: Fields) => Fields;

/** In version 1 a summary always covered everything up to its end, and was made from a transcript (until 2026-11-21). */
const startedV1: Upcaster = (data) => ({
  ...data,
  source: data.range,
  keeps: [],
  merge: true,
  generation: 0,
  split: null,
  mode: "transcript",
});

/** Characters and tokens of a shortened result, before the operation recorded them. */
const SHORTENED = 1_000;

function opV1(op: Fields): Fields {
  if (op.op === "summarize") return { ...op, keeps: [], generation: 0, mode: "transcript" };
  if (op.op !== "shorten_results") return op;
  const positions = Array.isArray(op.positions) ? op.positions : [];
  return { op: "shorten", chars: SHORTENED, items: positions.map((position: unknown) => ({ position, tokens: SHORTENED })) };
}

const receiptV1 = { economy: null, rungs: [], mode: null, attempts: 0, breaker_open: false, dropped_items: 0 } as const;

const isFields = (value: unknown): value is Fields => typeof value === "object" && value !== null;

const epochV1: Upcaster = (data) => ({
  ...data,
  ops: Array.isArray(data.ops) ? data.ops.filter(isFields).map(opV1) : [],
  receipt: { ...(isFields(data.receipt) ? data.receipt : {}), ...receiptV1 },
});

/** In version 2 a note in place of a failed summary was recorded as if a model had written it (until 2026-11-22). */
const epochV2: Upcaster = (data) => {
  if (data.trigger !== "fallback" || !Array.isArray(data.ops)) return data;
  const ops = data.ops.filter(isFields).map((op) => (op.op === "summarize" ? { ...op, mode: null } : op));
  return { ...data, ops, receipt: { ...(isFields(data.receipt) ? data.receipt : {}), mode: null } };
};

/** Keyed by `Type@from`: each upcaster converts version `from` to `from + 1`. */
export const upcasters: Readonly<Record<string, Upcaster>> = {
  /** In version 2 calls and results may be imported, several items in one message. An older build would read them as separate messages. */
  "MessagesAppended@1": (data) => data,
  "MessageQueued@1": (data) => ({ ...data, message: { ...(isFields(data.message) ? data.message : {}), rest: [] } }),
  "ModelCallFinished@1": (data) => ({ ...data, lease: null }),
  "CompactionStarted@1": startedV1,
  "EpochChanged@1": epochV1,
  "EpochChanged@2": epochV2,
};
