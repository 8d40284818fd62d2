/** A run in progress: what it asks and has said, for whoever must stop it and keep that. */
import { costField } from "../../context/cost";
import type { Prices } from "../../context/economy";
import type { ModelCall, TurnRun } from "../../domain/commands";
import type { CallOutcome } from "../../domain/events";
import type { Part } from "../../domain/message";
import type { CallUsage } from "../../domain/model-call";
import type { VainSpend } from "../request/retry";
import { Spoken } from "./spoken";

/** A model call that was made and is not in the ledger yet. What is not known of it when it ends stays null. */
export class CallUnderWay {
  usage: CallUsage | null = null;
  request_digest: string | null = null;

  readonly asked: Pick<ModelCall, "turn" | "model" | "epoch" | "up_to" | "estimate" | "rent" | "ratio" | "asked">;
  readonly startedAt: number;
  readonly prices: Prices | undefined;

  constructor(
    asked: Pick<ModelCall, "turn" | "model" | "epoch" | "up_to" | "estimate" | "rent" | "ratio" | "asked">,
    startedAt: number,
    prices?: Prices,
  ) {
    this.asked = asked;
    this.startedAt = startedAt;
    this.prices = prices;
  }

  #cost(): { readonly cost?: number } {
    return costField({ usage: this.usage, estimate: this.asked.estimate }, this.prices);
  }

  /** `at`: when it ended; null: nobody saw its end. */
  endedAs(outcome: CallOutcome, at: number | null): ModelCall {
    const { asked, startedAt, usage, request_digest } = this;
    return {
      ...asked,
      purpose: "turn",
      usage,
      request_digest,
      outcome,
      ms: at === null ? 0 : at - startedAt,
      lease: null,
      ...this.#cost(),
    };
  }
}

export class LiveTurn {
  readonly abort = new AbortController();
  readonly spoken = new Spoken();
  call: CallUnderWay | null = null;
  look: (() => void) | null = null;

  readonly run: TurnRun;
  readonly vain: VainSpend;

  /** `vain`: what earlier rounds of the turn have spent in vain. */
  constructor(run: TurnRun, vain: VainSpend = { calls: 0, tokens: 0 }) {
    this.run = run;
    this.vain = vain;
  }

  /** A round of a turn. `last`: the one before it, of this turn or another. */
  static after(last: LiveTurn | null, run: TurnRun): LiveTurn {
    return last?.run.turn === run.turn ? new LiveTurn(run, last.vain) : new LiveTurn(run);
  }

  /** What was said so far, as parts of a reply that ends here; empty: nothing was. */
  get parts(): Part[] {
    return this.spoken.partial;
  }
}
