/**
 * Runs the calls of a turn whose tools run on this side, a few at a time. A call with an effect outside is recorded before it starts, and
 * starts at most once per execution. Its result enters the conversation by a command that names the run, as all results of a turn do.
 */
import { cutToolResult } from "../../context/cut-result";
import { toPolicy } from "../../context/policy-choice";
import { toRanges } from "../../domain/branch";
import type { NewToolRun, TurnRun } from "../../domain/commands";
import type { ExecutionId } from "../../domain/ids";
import type { ToolCallPart } from "../../domain/message";
import { type OpenCall, runsHere } from "../../domain/state";
import type { ToolRun } from "../../domain/tool-run";
import { toErrorName } from "../../lib/error-name";
import type { ToolArtifact, ToolOutcome } from "../ports";
import { buildToolResult } from "../request/build-items";
import type { BodyText, SessionPorts } from "../session-ports";
import { CUT_OFF_CALL, type JudgedCall, judgeCall } from "./judge-call";

/** Calls at a time. An object has six connections at once, and the model needs one. */
const AT_ONCE = 4;
/** A tool's own timeout is shorter; this bounds a tool that ignores it. */
export const LONGEST_RUN_MS = 10 * 60_000;

/** A run of tools, and the controller that ends it. */
interface LiveTools {
  readonly run: TurnRun;
  readonly abort: AbortController;
  /** Checks for more calls to run. Null while no tools run. */
  look: (() => void) | null;
}

type ToolPorts = Pick<SessionPorts, "writer" | "content" | "tools" | "recall" | "clock" | "ids" | "schedule" | "log">;

/**
 * Resolves when no call is left that may run. A call that a person approves meanwhile starts through `look`, without waiting for the
 * others.
 */
export function runTools(live: LiveTools, ports: ToolPorts): Promise<void> {
  const taken = new Set<ExecutionId>();
  const next = (): OpenCall | undefined => openCalls(live, ports).find((call) => runsHere(call) && !taken.has(call.execution));
  const done = Promise.withResolvers<void>();
  let running = 0;
  const look = (): void => {
    for (let call = next(); call && running < AT_ONCE; call = next()) {
      taken.add(call.execution);
      running += 1;
      const { execution } = call;
      const onEnd = (end: CallEnd): void => {
        // The call may be taken again after a person approves it.
        if (end === "waits") taken.delete(execution);
        goOn();
      };
      runCall(live, call, ports).then(onEnd).catch(done.reject);
    }
    if (running === 0) done.resolve();
  };
  const goOn = (): void => {
    running -= 1;
    look();
  };
  live.look = look;
  look();
  return done.promise.finally(() => {
    live.look = null;
  });
}

/** The turn's open calls. Empty once the run is over. */
function openCalls({ run }: LiveTools, { writer }: ToolPorts): readonly OpenCall[] {
  const { turn } = writer.state;
  return turn?.id === run.turn && turn.incarnation === run.incarnation && turn.phase === "running_tools" ? turn.open_calls : [];
}

/** `waits`: the call has not started, and a person is asked for approval. */
type CallEnd = "over" | "waits";

async function runCall(live: LiveTools, call: OpenCall, ports: ToolPorts): Promise<CallEnd> {
  const { clock, writer, content, log } = ports;
  const part = findCall(call, ports);
  const startedAt = clock();
  // The arguments are gone: with others it would not be the call that the model made.
  const judged = call.cut ? CUT_OFF_CALL : part && judgeCall(part, content.readTools());
  const outcome = judged ? await runJudgedCall(judged, { live, call }, ports) : ARGUMENTS_GONE;
  if (outcome === "over" || outcome === "waits") return outcome;
  const ms = outcome === UNKNOWN_OUTCOME ? null : clock() - startedAt;
  const { result, bodies } = buildToolRun(call, { outcome, ms }, ports);
  const recorded = writer.execute({ type: "RecordToolRun", at: clock(), ...live.run, result }, bodies);
  if (!recorded.ok) log.info("tool_result_not_recorded", { turn: live.run.turn, code: recorded.error.code });
  return "over";
}

const ARGUMENTS_GONE: ToolOutcome = { output: "The call's arguments are gone, and it was not run.", failure: "internal" };

/** The call as the model made it. It stays in the view until it has a result. Null when its content was redacted. */
function findCall({ execution }: OpenCall, { writer, content }: ToolPorts): ToolCallPart | null {
  const item = writer.state.view.items.findLast(({ kind, tool }) => kind === "tool_call" && tool?.execution === execution);
  return (item && content.readParts(item).find((each) => each.type === "tool_call")) ?? null;
}

interface Running {
  readonly live: LiveTools;
  readonly call: OpenCall;
}

/** Runs the call. A `CallEnd` is returned when the call was not started. */
async function runJudgedCall(judged: JudgedCall, { live, call }: Running, ports: ToolPorts): Promise<ToolOutcome | CallEnd> {
  // An earlier run in this life of the object started the call, and failed before it could record the result.
  if (call.started) return UNKNOWN_OUTCOME;
  // The client offered the tool when the model called it, and no longer does: neither side can run it.
  if (judged.kind === "client") return { output: `${call.name} is not run here any more.`, failure: "not_configured" };
  if (judged.kind === "invalid") return { output: judged.output, failure: judged.failure };
  const wanted = call.allowed === true ? false : await wantsApproval(judged, ports);
  if (wanted === null) return OUT_OF_REACH;
  if (wanted) return askPerson({ live, call }, ports);
  // Reading the record has no effect outside, so no start is recorded.
  if (judged.tool.by === "builtin")
    return withDeadline(live, async () => ({ ...(await ports.recall(judged.arguments)), whole: true }), ports);
  const started = ports.writer.execute({ type: "StartTool", at: ports.clock(), ...live.run, execution: call.execution });
  if (!started.ok) return "over";
  const allowed = call.allowed === true;
  const request = { tool: judged.tool, name: call.name, arguments: judged.arguments, execution: call.execution, allowed };
  return withDeadline(live, (signal) => ports.tools.run(request, { signal }), ports);
}

/**
 * Applies the stricter of the session's definition and the tool's registration just before the call runs, because either may have changed
 * since the model called. Null when the registration is unreachable.
 */
async function wantsApproval(judged: Extract<JudgedCall, { kind: "server" }>, { tools }: ToolPorts): Promise<boolean | null> {
  if (judged.needs_approval) return true;
  try {
    return await tools.needsApproval(judged.tool);
  } catch {
    return null;
  }
}

function askPerson({ live, call }: Running, { writer, clock }: ToolPorts): CallEnd {
  const asked = writer.execute({ type: "RequestApproval", at: clock(), ...live.run, execution: call.execution });
  return asked.ok ? "waits" : "over";
}

const OUT_OF_REACH: ToolOutcome = {
  output: "The tool was not called: its registration is out of reach. It may work later.",
  failure: "internal",
};
const FAILED_HERE: ToolOutcome = { output: "The tool failed on this side. Whether it took effect is not known.", failure: "internal" };
const NO_ANSWER: ToolOutcome = { output: "The tool did not answer in time. Whether it took effect is not known.", failure: "timeout" };

/** Never throws, and does not wait for a tool that ignores its abort signal. An outcome that comes after that is dropped. */
async function withDeadline(
  live: LiveTools,
  run: (signal: AbortSignal) => Promise<ToolOutcome>,
  { schedule, log }: ToolPorts,
): Promise<ToolOutcome> {
  const abort = new AbortController();
  const { signal } = live.abort;
  const ran = run(abort.signal).catch((error: unknown): ToolOutcome => {
    log.error("tool_threw", { error: toErrorName(error) });
    return FAILED_HERE;
  });
  const given = Promise.withResolvers<ToolOutcome>();
  const stop = (outcome: ToolOutcome): void => {
    abort.abort();
    given.resolve(outcome);
  };
  const onAbort = (): void => stop(UNKNOWN_OUTCOME);
  const cancel = schedule(LONGEST_RUN_MS, () => stop(NO_ANSWER));
  signal.addEventListener("abort", onAbort, { once: true });
  if (signal.aborted) onAbort();
  try {
    return await Promise.race([ran, given.promise]);
  } finally {
    cancel();
    signal.removeEventListener("abort", onAbort);
  }
}

interface Ran {
  readonly outcome: ToolOutcome;
  /** Null when the end was not observed. */
  readonly ms: number | null;
}

/** Turns the outcome into a result that can be recorded, cut to the policy's length. */
function buildToolRun(
  call: OpenCall,
  { outcome, ms }: Ran,
  ports: Pick<ToolPorts, "writer" | "clock" | "ids">,
): { readonly result: NewToolRun; readonly bodies: readonly BodyText[] } {
  const { writer, clock, ids } = ports;
  const { results } = toPolicy(writer.state.settings.policy);
  const output = outcome.whole ? outcome.output : cutToolResult(outcome.output, results);
  const is_error = outcome.failure !== null;
  const { draft, body } = buildToolResult({ call, output, is_error, turn: writer.state.turn?.id ?? null, at: clock() }, ids);
  const kept = buildArtifacts(outcome.artifacts ?? [], ids);
  const read = outcome.read && toRanges([...outcome.read].sort((one, other) => one - other));
  const ran: ToolRun = { ms, exit_code: null, failure: outcome.failure, artifacts: kept.artifacts, ...(read && { read }) };
  return { result: { execution: call.execution, item: draft, is_error, ran }, bodies: [body, ...kept.bodies] };
}

export function buildArtifacts(
  artifacts: readonly ToolArtifact[],
  ids: ToolPorts["ids"],
): { readonly artifacts: ToolRun["artifacts"]; readonly bodies: readonly BodyText[] } {
  const drafted = artifacts.map(({ type, content }) => {
    const text = JSON.stringify(content);
    return { type, body: ids.newId("bod"), bytes: utf8.encode(text).byteLength, text };
  });
  return {
    artifacts: drafted.map(({ text: _, ...artifact }) => artifact),
    bodies: drafted.map(({ body, text }) => ({ id: body, text })),
  };
}

const utf8 = new TextEncoder();

/** What the model reads for a call that started and whose end was not observed. */
const UNKNOWN_OUTCOME: ToolOutcome = {
  output:
    "The outcome of this call is unknown: it was begun, and its end was not seen. It may have taken effect. It is not run again by itself.",
  failure: "unknown_outcome",
};

/** Drafts results for the calls that have started, for a turn that ends now or that ended with the object's last life. */
export function buildLostRuns(ports: Pick<ToolPorts, "writer" | "clock" | "ids">): {
  readonly lost: readonly NewToolRun[];
  readonly bodies: readonly BodyText[];
} {
  const begun = (ports.writer.state.turn?.open_calls ?? []).filter((call) => call.started);
  const drafted = begun.map((call) => buildToolRun(call, { outcome: UNKNOWN_OUTCOME, ms: null }, ports));
  return { lost: drafted.map(({ result }) => result), bodies: drafted.flatMap(({ bodies }) => bodies) };
}
