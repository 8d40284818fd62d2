/**
 * A chat platform. It delivers what people do until it is answered, twice, late and out of order, and takes what the bot says: late, not at all,
 * or without saying that it did. What people see is kept beyond every life of the bot.
 */
import type {
  ActOutcome,
  ChannelTraits,
  ChatPlace,
  Delivery,
  OutboundAct,
  PlatformRequest,
  ReplyButton,
} from "../../src/app/channels/channel";
import { ok, type Result } from "../../src/lib/result";
import type { Random } from "./random";
import { type Scheduler, Scope } from "./scheduler";
import type { Stats } from "./stats";

/** A message of the bot, as people see it. */
export interface SeenMessage {
  readonly id: string;
  readonly place: ChatPlace;
  readonly operation: string;
  text: string;
  buttons: readonly ReplyButton[];
}

export interface PlatformFaults {
  /** A delivery comes once more, at the same time or later. */
  repeats: number;
  /** The bot's answer to a delivery does not arrive, so that it is delivered again. */
  answersLost: number;
  /** A delivery is held up for minutes. */
  late: number;
  rateLimits: number;
  /** An act is refused for now, before it takes effect. */
  fails: number;
  /** An act takes effect, and its answer is lost. */
  outcomesLost: number;
  /** The platform's name is not resolved: nothing leaves. */
  unresolved: number;
  /** An act is not answered in time. */
  hangs: number;
  badFormats: number;
  refuses: number;
  moves: number;
}

interface PlatformWorld {
  readonly scheduler: Scheduler;
  readonly random: Random;
  readonly stats: Stats;
  readonly traits: ChannelTraits;
  readonly faults: PlatformFaults;
  /** Posts deliveries to the bot's webhook. Rejects when no answer comes. */
  readonly post: (deliveries: readonly Delivery[]) => Promise<Response>;
}

interface LeavingRequest extends PlatformRequest {
  readonly signal: AbortSignal;
  readonly onSend?: () => void;
}

const MINUTE_MS = 60_000;

export class SimChatPlatform {
  /** In the order in which they were first shown. */
  readonly seen: SeenMessage[] = [];
  readonly scope = new Scope("platform");
  /** Deliveries that the bot has not taken yet. */
  pending = 0;
  readonly world: PlatformWorld;
  /** What the platform remembers of acts that it took, if it is idempotent. */
  readonly #taken = new Map<string, string>();

  constructor(world: PlatformWorld) {
    this.world = world;
  }

  /** Delivers until the bot has answered that it took them. */
  async deliver(deliveries: readonly Delivery[]): Promise<void> {
    const { random, faults, scheduler, stats } = this.world;
    stats.count("deliveries", deliveries.length);
    this.pending++;
    while (random.chance(faults.repeats)) void this.#repeat(deliveries);
    if (random.chance(faults.late)) await scheduler.sleep(this.scope, random.int(0, 3 * MINUTE_MS), "a delivery is late");
    for (let wait = 1_000; !(await this.#post(deliveries)); wait = Math.min(MINUTE_MS, wait * 2)) {
      stats.count("deliveries repeated");
      await scheduler.sleep(this.scope, wait, "delivers again");
    }
    this.pending--;
  }

  async #repeat(deliveries: readonly Delivery[]): Promise<void> {
    const { random, scheduler, stats } = this.world;
    stats.count("deliveries doubled");
    await scheduler.sleep(this.scope, random.pick([0, 10, 5_000, 20 * MINUTE_MS]), "delivers twice");
    await this.#post(deliveries);
  }

  async #post(deliveries: readonly Delivery[]): Promise<boolean> {
    const { random, faults, stats, scheduler, post } = this.world;
    await scheduler.gate(this.scope, `delivers ${deliveries.map(({ id }) => id)}`);
    const status = await post(deliveries).then(
      (answer) => answer.status,
      () => 0,
    );
    stats.count(`webhook answered ${status}`);
    return status === 200 && !random.chance(faults.answersLost);
  }

  /** The way to the platform from one life of the bot. What was sent may arrive after the life has ended. */
  reachedBy(scope: Scope): (request: LeavingRequest) => Promise<Result<Response, string>> {
    const { scheduler, random, faults, stats } = this.world;
    return async ({ body, signal, onSend }) => {
      const act = JSON.parse(body ?? "null") as OutboundAct;
      if (random.chance(faults.unresolved)) {
        stats.count("acts that did not leave");
        await scheduler.gate(scope, `${act.type} does not leave`);
        return { ok: false, error: "unreachable" };
      }
      onSend?.();
      let outcome: ActOutcome = { kind: "failed", reason: "unavailable" };
      const effect = (): void => {
        outcome = this.#take(act);
      };
      await scheduler.gate(scope, `${act.type} ${"operation" in act ? act.operation.replace(/0{4,}/, "") : ""} arrives`, { effect });
      if (random.chance(faults.hangs)) {
        stats.count("acts not answered in time");
        await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
      }
      await scheduler.gate(scope, `${act.type} answered ${JSON.stringify(outcome)}`);
      if (signal.aborted || random.chance(faults.outcomesLost)) {
        stats.count("answers to acts lost");
        return { ok: false, error: "unreachable" };
      }
      return ok(new Response(JSON.stringify(outcome)));
    };
  }

  #take(act: OutboundAct): ActOutcome {
    const { stats } = this.world;
    const failed = this.#fail(act);
    if (failed) stats.count(`acts ${failed.kind}`);
    if (failed) return failed;
    stats.count(`acts: ${act.type}`);
    if (act.type === "send") return this.#show(act);
    if (act.type !== "edit") return { kind: "done", message: null };
    const known = this.seen.find(({ id }) => id === act.message);
    if (!known) return { kind: "refused", reason: "no such message" };
    known.text = act.text.text;
    known.buttons = act.buttons;
    return { kind: "done", message: known.id };
  }

  #fail(act: OutboundAct): ActOutcome | null {
    const { random, faults } = this.world;
    if (random.chance(faults.rateLimits)) return { kind: "rate_limited", retry_in_ms: random.int(500, 30_000) };
    if (random.chance(faults.fails)) return { kind: "failed", reason: "unavailable" };
    if (act.type !== "send" && act.type !== "edit") return null;
    if (!act.is_plain && random.chance(faults.badFormats)) return { kind: "bad_format", reason: "cannot parse" };
    if (random.chance(faults.refuses)) return { kind: "refused", reason: "blocked" };
    if (random.chance(faults.moves)) return { kind: "refused", reason: "moved", moved_to: moveOn(act.place) };
    return null;
  }

  #show({ operation, place, text, buttons }: Extract<OutboundAct, { readonly type: "send" }>): ActOutcome {
    const { traits, stats } = this.world;
    const known = traits.is_idempotent ? this.#taken.get(operation) : undefined;
    if (known !== undefined) {
      stats.count("acts recognised");
      return { kind: "done", message: known };
    }
    const id = `p${this.seen.length + 1}`;
    this.#taken.set(operation, id);
    this.seen.push({ id, place, operation, text: text.text, buttons });
    return { kind: "done", message: id };
  }
}

/** A group that became a larger one: the same chat under another address. */
function moveOn(place: ChatPlace): ChatPlace {
  const moved = Number(place.target.moved ?? 0) + 1;
  return { ...place, target: { ...place.target, moved } };
}
