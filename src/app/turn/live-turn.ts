/** The state of a running turn in memory: its model call and the partial reply, for the code that stops the turn and keeps that text. */
import { costField } from "../../context/cost";
import type { Prices } from "../../context/economy";
import type { ModelCall, TurnRun } from "../../domain/commands";
import type { CallOutcome } from "../../domain/events";
import type { ItemId } from "../../domain/ids";
import type { CallReservation, CallUsage } from "../../domain/model-call";
import type { Ids } from "../ports";
import { type BuiltItem, buildItem } from "../request/build-items";
import type { TurnRetrySpend } from "../request/retry";
import { ReplyAssembly } from "./reply-assembly";

type Asked = Pick<ModelCall, "turn" | "model" | "epoch" | "up_to" | "estimate" | "rent" | "ratio" | "asked">;

interface Paid {
  readonly startedAt: number;
  readonly prices?: Prices | undefined;
  /** Null: no budget counts the call. */
  readonly reservation: number | null;
}

/** A model call that was made and is not in the ledger yet. Values that are still unknown when it ends stay null. */
export class PendingCall {
  usage: CallUsage | null = null;
  request_digest: string | null = null;
  /** The request was handed over to be sent. */
  sent = false;
  /** The length of the body that was sent, in UTF-16 units. */
  length = 0;
  /** The provider answered with an error in place of a reply. */
  isRefused = false;

  readonly asked: Asked;
  readonly startedAt: number;
  readonly prices: Prices | undefined;
  readonly reservation: number | null;

  constructor(asked: Asked, { startedAt, prices, reservation }: Paid) {
    this.asked = asked;
    this.startedAt = startedAt;
    this.prices = prices;
    this.reservation = reservation;
  }

  #toReservation(isFree: boolean): { readonly reservation?: CallReservation } {
    return this.reservation === null ? {} : { reservation: { id: this.reservation, ...(isFree && { free: true }) } };
  }

  /** Returns the ledger entry. `at`: when the call ended; null when the end was not observed, after a crash. */
  endedAs(outcome: CallOutcome, at: number | null): ModelCall {
    const { asked, startedAt, usage, request_digest, sent, isRefused } = this;
    const isFree = at !== null && (!sent || isRefused);
    return {
      ...asked,
      purpose: "turn",
      usage,
      request_digest,
      outcome,
      ms: at === null ? 0 : at - startedAt,
      lease: null,
      ...costField({ usage, estimate: asked.estimate, isFree }, this.prices),
      ...this.#toReservation(isFree),
    };
  }
}

export class LiveTurn {
  readonly abort = new AbortController();
  readonly spoken = new ReplyAssembly();
  call: PendingCall | null = null;
  look: (() => void) | null = null;
  #reply: ItemId | null = null;

  readonly run: TurnRun;
  readonly retrySpend: TurnRetrySpend;

  /** `retrySpend`: what failed calls in earlier rounds of the turn have cost. */
  constructor(run: TurnRun, retrySpend: TurnRetrySpend = { calls: 0, tokens: 0 }) {
    this.run = run;
    this.retrySpend = retrySpend;
  }

  /**
   * Creates the next round. `last`: the round before it, of this turn or of another one; failed-call costs carry over only within a turn.
   */
  static after(last: LiveTurn | null, run: TurnRun): LiveTurn {
    return last?.run.turn === run.turn ? new LiveTurn(run, last.retrySpend) : new LiveTurn(run);
  }

  /** The id of the reply, which its text is shown with before it is recorded. */
  nameReply(ids: Ids): ItemId {
    this.#reply ??= ids.newId("msg");
    return this.#reply;
  }

  /** The partial reply as an item that ends here. Null when the model has sent nothing. */
  buildPartial(at: number, ids: Ids): BuiltItem | null {
    const parts = this.spoken.partial;
    return parts.length > 0 ? buildItem({ id: this.nameReply(ids), kind: "assistant", parts, turn: this.run.turn, at }, ids) : null;
  }
}
