/** Turns drawn at random: the frames that the stream has of them, and what the record has. */
import type { Random } from "../../../scripts/support/random";
import type { ExecutionView } from "../../../src/contract/execution";
import type { StreamFrame } from "../../../src/contract/frame";
import type { DisplayItem } from "../../../src/contract/item";
import type { ToolCallView } from "../../../src/contract/tool";
import { makeId, NOW, SESSION } from "../support";

const TEXTS = ["Rex", " is a dog.", "。你好🐕", "\n\n", "<script>", "data: [DONE]", " ", "ﷺ", "a".repeat(300)];
const OUTPUTS = ['{"sky":"clear"}', "sunny", "21", '"21"', "", "null", "[1,2]", "{broken", "晴"];
const ARGUMENTS = ['{"city":"北京"}', "{}", "not json", "", "[1]"];
const NAMES = ["weather", "look up", "工具", "__proto__", "x".repeat(64)];
const KINDS = ["client", "http", "look-up", "approved", "denied"] as const;
const TURN = makeId("trn");
const MESSAGE = makeId("msg", 9);
const figures = {
  usage: { input: 10, output: 2, cached: 0, reasoning: 0 },
  cost: null,
  context_window: 16_000,
  assumed_window: null,
  current_context_tokens: { tokens: 12, source: "reported", error_bound: 0 },
} as const;
const ENDS: readonly StreamFrame[] = [
  { type: "turn.completed", turn_id: TURN, finish: "stop", ...figures },
  { type: "turn.stopped", turn_id: TURN, reason: "requested", ...figures },
  { type: "turn.interrupted", turn_id: TURN, ...figures },
];

export interface DrawnTurn {
  /** The frames of each request: a new one begins when the client has answered calls. */
  readonly legs: readonly (readonly StreamFrame[])[];
  readonly items: readonly DisplayItem[];
  readonly executions: readonly ExecutionView[];
}

type Content = DisplayItem["content"][number];
interface Call {
  readonly kind: (typeof KINDS)[number];
  readonly view: ToolCallView;
  readonly shown: NonNullable<DisplayItem["tool_calls"]>[number];
}

export class TurnDrawer {
  readonly #random: Random;
  readonly #legs: StreamFrame[][] = [[]];
  readonly #items: DisplayItem[] = [];
  readonly #executions: ExecutionView[] = [];

  constructor(random: Random) {
    this.#random = random;
  }

  draw(): DrawnTurn {
    this.#record({ role: "user", content: [{ type: "text", text: "Well?" }] });
    this.#tell({ type: "turn.started", turn_id: TURN, attempt: 1, message_id: makeId("msg", 1), position: 1 });
    for (let step = this.#random.between(0, 3); step > 0; step--) this.#step(this.#random.between(1, 4));
    this.#step(0);
    this.#tell(this.#pick(ENDS));
    return { legs: this.#legs, items: this.#items, executions: this.#executions };
  }

  #pick<T>(from: readonly T[]): T {
    const picked = from[this.#random.between(0, from.length - 1)];
    if (picked === undefined) throw new Error("There is nothing to pick from");
    return picked;
  }

  #tell(...frames: readonly StreamFrame[]): void {
    if (this.#random.between(0, 9) === 0) frames = [{ type: "compaction.started", compaction_id: makeId("cmp"), status: "…" }, ...frames];
    this.#legs.at(-1)?.push(...frames);
  }

  #record(changes: Partial<DisplayItem>): DisplayItem {
    const position = this.#items.reduce((sum, { tool_calls = [] }) => sum + 1 + tool_calls.length, 1);
    const item: DisplayItem = {
      id: makeId("msg", position),
      position,
      role: "assistant",
      content: [],
      name: null,
      client_id: null,
      metadata: {},
      turn_id: TURN,
      created_at: NOW,
      recorded_at: NOW,
      incomplete: false,
      tokens: { tokens: 1, source: "estimated", error_bound: 0 },
      ...changes,
    };
    this.#items.push(item);
    return item;
  }

  #step(calls: number): void {
    // A break before the reply was recorded: what was said until then does not count.
    const isBroken = this.#random.between(0, 4) === 0;
    if (isBroken) {
      this.#say(0);
      this.#tell({ type: "turn.resumed", turn_id: TURN });
    }
    const content = this.#say(isBroken ? 1 : 0);
    const made = Array.from({ length: calls }, (_, nth) => this.#call(nth));
    const tool_calls = made.map(({ shown }) => shown);
    const item = this.#record({ content, ...(calls > 0 && { tool_calls }) });
    this.#tell({ type: "item.completed", turn_id: TURN, item });
    this.#run(made);
  }

  #say(least: number): Content[] {
    return Array.from({ length: this.#random.between(least, 3) }, (): Content => {
      const type = this.#pick(["text", "reasoning"] as const);
      const pieces = Array.from({ length: this.#random.between(1, 4) }, () => this.#pick(TEXTS));
      // Frames that were not kept.
      const isLost = this.#random.between(0, 9) === 0;
      if (isLost) this.#tell({ type: "stream.gap", to: 1 });
      else for (const text of pieces) this.#tell({ type: `${type}.delta`, turn_id: TURN, message_id: MESSAGE, text });
      return { type, text: pieces.join("") };
    });
  }

  #call(nth: number): Call {
    const n = 100 + this.#executions.length;
    const kind = this.#pick(KINDS);
    const [id, name, args] = [makeId("exe", n), this.#pick(NAMES), this.#pick(ARGUMENTS)];
    const runs = kind === "client" ? "client" : "server";
    const position = this.#items.length + 100 + nth;
    this.#executions.push({
      id,
      session_id: SESSION,
      turn_id: TURN,
      position,
      result_position: null,
      tool_name: name,
      call_id: "a",
      runs,
      status: kind === "denied" ? "denied" : "succeeded",
      success: kind !== "denied",
      exit_code: null,
      duration_ms: null,
      failure: kind === "denied" ? "denied" : null,
      error_message: null,
      arguments: args,
      created_at: NOW,
      started_at: null,
      finished_at: NOW,
      artifacts: [],
      item_id: makeId("msg", n),
      approval: null,
    });
    return {
      kind,
      view: { id, call_id: "a", name, arguments: args, runs, approval: runs === "server" ? "pending" : null },
      shown: { id: makeId("msg", n), position, execution_id: id, call_id: "a", name, arguments: args },
    };
  }

  /** Calls of the server run at once, in any order. What needs the client comes behind them, in another request. */
  #run(calls: readonly Call[]): void {
    const isOwed = ({ kind }: Call): boolean => kind === "client" || kind === "approved" || kind === "denied";
    for (const call of this.#shuffle(calls.filter((each) => !isOwed(each)))) {
      if (call.kind === "http") this.#tell({ type: "tool.started", turn_id: TURN, execution_id: call.view.id });
      this.#answer(call, this.#random.between(0, 3) === 0);
    }
    const owed = calls.filter(isOwed);
    for (const { kind, view } of owed) if (kind !== "client") this.#tell({ type: "approval.requested", turn_id: TURN, tool_call: view });
    if (owed.length === 0) return;
    this.#tell({ type: "turn.awaiting_tools", turn_id: TURN, tool_calls: owed.map(({ view }) => view) });
    this.#legs.push([]);
    for (const call of this.#shuffle(owed)) {
      const approved = call.kind === "approved";
      if (call.kind !== "client") this.#tell({ type: "approval.resolved", turn_id: TURN, execution_id: call.view.id, approved });
      this.#answer(call, call.kind === "denied" || this.#random.between(0, 3) === 0);
    }
    this.#tell({ type: "turn.resumed", turn_id: TURN });
  }

  #answer({ view }: Call, is_error: boolean): void {
    const content = [{ type: "text", text: this.#pick(OUTPUTS) }] as const;
    const item = this.#record({ role: "tool", content: [...content], execution_id: view.id, call_id: "a", tool_name: view.name, is_error });
    this.#tell({ type: "item.completed", turn_id: TURN, item });
  }

  #shuffle<T>(list: readonly T[]): readonly T[] {
    return list
      .map((each) => ({ each, at: this.#random.between(0, 1_000) }))
      .toSorted((a, b) => a.at - b.at)
      .map(({ each }) => each);
  }
}
