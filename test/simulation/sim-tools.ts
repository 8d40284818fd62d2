/** Tools that run in the object. They take effect outside, at once or late, fail, throw, ignore their signal, or never return. */
import type { ToolOutcome, ToolRequest, ToolRunner } from "../../src/app/ports";
import type { ExecutionId } from "../../src/domain/ids";
import type { ToolDefinition } from "../../src/domain/message";
import { TOOL_FAILURES } from "../../src/domain/tool-run";
import type { Scope } from "./scheduler";
import { drawText } from "./texts";
import type { World } from "./world";

const PARAMETERS = { type: "object", properties: { path: { type: "string" }, text: { type: "string" } }, required: ["path"] };

/** The tools of a session: three of the client's, one server tool, and one that needs a person's approval. */
export const TOOLS: readonly ToolDefinition[] = [
  ...["look_up", "write_file", "read_file"].map((name) => ({
    name,
    description: `${name}: a tool of the client`,
    parameters: PARAMETERS,
  })),
  { name: "fetch_page", parameters: PARAMETERS, runs: { by: "http", tool: "fetch_page" } },
  { name: "pay", parameters: PARAMETERS, runs: { by: "mcp", server: "bank", tool: "pay" }, needs_approval: true },
];

export class SimTools {
  /** The number of times that each execution took effect. */
  readonly effects = new Map<ExecutionId, number>();
  readonly #asked = new Set<ExecutionId>();
  #running = 0;

  readonly world: World;

  constructor(world: World) {
    this.world = world;
  }

  /** The tools as one life of the object reaches them. */
  for(scope: Scope): ToolRunner {
    return {
      needsApproval: async () => {
        const { scheduler, random, profile } = this.world;
        await scheduler.gate(scope, "tool registration", { weight: 4 });
        if (random.chance(profile.toolFails / 4)) return scheduler.goWrong("the registration is out of reach");
        return random.chance(0.15);
      },
      run: (request, { signal }) => {
        this.#checkAsked(request);
        return this.#run(request, { scope, signal });
      },
    };
  }

  /** I27: a call is run once, only after its start was recorded, and never while it waits for approval. */
  #checkAsked({ execution, name }: ToolRequest): void {
    const { violations, stats, log } = this.world;
    stats.count(`tool run: ${name}`);
    log.catchUp();
    const call = log.replayed.turn?.open_calls.find((each) => each.execution === execution);
    violations.check(call?.started === true, "I27", () => `${execution} runs and is not written down as begun`);
    violations.check(call?.approval === undefined, "I27", () => `${execution} runs before a person allowed it`);
    violations.check(!this.#asked.has(execution), "I27", () => `${execution} runs a second time`);
    this.#asked.add(execution);
  }

  async #run({ execution, name }: ToolRequest, { scope, signal }: { scope: Scope; signal: AbortSignal }): Promise<ToolOutcome> {
    const { scheduler, random, profile, stats } = this.world;
    const kind = random.weighted({ works: 8, fails: 1, throws: profile.toolFails, hangs: profile.toolFails, deaf: profile.toolFails / 2 });
    stats.count(`tool ${kind}`);
    const label = `tool ${name} ${++this.#running}`;
    // A call in flight takes effect, even if its caller is dead by then.
    await scheduler.gate(scope, `${label} takes effect`, { weight: 2, effect: () => this.#take(execution) });
    if (kind === "throws") throw new Error("the tool's client has a defect");
    if (kind === "deaf") await new Promise<never>(() => {});
    if (kind === "hangs" && !signal.aborted)
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
    await scheduler.gate(scope, `${label} answers`, { weight: 2 });
    if (kind === "fails" || kind === "hangs") return { output: "It did not work.", failure: random.pick(TOOL_FAILURES) };
    const artifacts = random.chance(0.2) ? [{ type: "log", content: { lines: drawText(random, 0, 200) } }] : [];
    return { output: drawText(random, 0, random.chance(0.05) ? 40_000 : 2_000), failure: null, artifacts };
  }

  #take(execution: ExecutionId): void {
    this.effects.set(execution, (this.effects.get(execution) ?? 0) + 1);
  }
}
