/** I3: a turn fails as crashed only when three lives of the object in a row brought it no further, and then it does. */
import type { StoredEvent } from "../../src/domain/events";
import type { World } from "./world";

const LIVES = 3;
/** How a model call ends that the model finished. */
const FINISHED: ReadonlySet<string> = new Set(["stop", "length", "tool_calls", "content_filter", "other", "stale"]);
const PURPOSES: ReadonlySet<string> = new Set(["turn", "compaction"]);

export class TurnRules {
  /** The number of times that a turn was brought further. */
  progress = 0;
  /** Lives that began to work on the open turn. */
  #lives = 0;
  /** The life in which the turn was last brought further. 0: none. */
  #furthered = 0;

  readonly world: World;

  constructor(world: World) {
    this.world = world;
  }

  afterEvent(event: StoredEvent): void {
    const { violations, stats } = this.world;
    if (event.type === "TurnStarted") {
      if (event.attempt === 1) [this.#lives, this.#furthered] = [0, 0];
      const stalled = this.#lives - this.#furthered;
      violations.check(stalled < LIVES, "I3", () => `turn ${event.turn} runs again after ${stalled} lives without progress`);
      if (this.#lives >= LIVES) stats.count("turns run on after many deaths");
      this.#lives += 1;
    }
    if (isProgress(event)) {
      this.#furthered = this.#lives;
      this.progress += 1;
    }
    if (event.type !== "TurnFailed" || event.failure.kind !== "crashed") return;
    const stalled = this.#lives - this.#furthered;
    violations.check(stalled >= LIVES, "I3", () => `turn ${event.turn} failed as crashed after ${stalled} lives without progress`);
  }
}

function isProgress(event: StoredEvent): boolean {
  if (event.type === "ToolResultRecorded") return event.ran?.failure !== "unknown_outcome";
  return event.type === "ModelCallFinished" && PURPOSES.has(event.purpose) && FINISHED.has(event.outcome);
}
