/**
 * One conversation of a channel. Three workers share its rows: one works through deliveries, one follows turns, one sends parts of replies. Each
 * is alone at its work, and each step ends in one transaction, so that a life that ends in between leaves what the next one goes on with.
 */
import type { SessionId } from "../../domain/ids";
import { toErrorName } from "../../lib/error-name";
import type { ChannelAdapter, Delivery } from "./channel";
import type { ChatAddress, ReceivedDeliveries, ScheduledTurn } from "./chat-api";
import type { ChatDeps, ChatHost, ChatRoom } from "./chat-ports";
import { workDeliveries } from "./incoming/work-deliveries";
import { followTurns } from "./replies/follow-turn";
import { followScheduled } from "./replies/scheduled-turns";
import { sendParts } from "./replies/send-parts";
import { createWorker, type Worker } from "./worker";

/** How long an object that died stays dead: the alarm begins its work again. */
const WATCH_MS = 30_000;
const DAY_MS = 24 * 60 * 60 * 1_000;
/** Longer than any platform repeats a delivery, so that one of an erased conversation begins no new one. */
const CLAIMS_MS = 15 * DAY_MS;
/** How long a person can edit or delete a message with an effect. */
const MESSAGE_TTL_MS = 30 * DAY_MS;

export class Chat implements ChatHost {
  readonly deps: ChatDeps;
  readonly counted = new Set<number>();
  readonly #workers: readonly Worker[];
  #alarmAt: number | null = null;

  constructor(deps: ChatDeps) {
    this.deps = deps;
    const failed = (error: unknown): void => deps.log.error("chat.work_failed", { error: toErrorName(error) });
    const work = (run: (chat: ChatHost) => Promise<void>) => createWorker(() => run(this), { background: deps.background, failed });
    this.#workers = [work(workDeliveries), work(followTurns), work(sendParts)];
  }

  receive(address: ChatAddress, deliveries: readonly Delivery[]): ReceivedDeliveries {
    const { store, now } = this.deps;
    const claimed = store.transaction(() => {
      const fresh = deliveries.filter(({ id }) => store.deliveries.claim(id, now()));
      if (fresh.length > 0) store.keepAddress(address);
      const session = store.sessions.current();
      for (const delivery of fresh) store.deliveries.add(delivery, { session, at: now() });
      return fresh.map(({ id }) => id);
    });
    this.wake();
    return { claimed };
  }

  follow(scheduled: ScheduledTurn): void {
    this.deps.store.transaction(() => followScheduled(this, scheduled));
    this.wake();
  }

  async forgetSession(session: SessionId): Promise<void> {
    const { store, scrub } = this.deps;
    store.transaction(() => store.forgetSession(session));
    await scrub();
    this.wake();
  }

  async empty(at: number): Promise<void> {
    const { store, scrub } = this.deps;
    store.transaction(() => store.empty(at));
    await scrub();
    this.wake();
  }

  async scrub(): Promise<void> {
    await this.deps.scrub();
  }

  alarmRang(): void {
    this.#alarmAt = null;
    try {
      if (this.deps.store.isBare()) this.#forgetIdle();
    } catch (error) {
      // The disk may be full. The alarm is armed again.
      this.deps.log.error("chat.work_failed", { error: toErrorName(error) });
    }
    this.wake();
  }

  wake(): void {
    this.#arm();
    for (const worker of this.#workers) worker.start();
  }

  async openRoom(): Promise<ChatRoom | null> {
    const { store, findChannel, findAdapter } = this.deps;
    const address = store.readAddress();
    if (!address) return null;
    const channel = await findChannel({ tenant: address.tenant, name: address.channel });
    if (!channel) return null;
    const adapter = findAdapter(channel.settings.type);
    this.#tidy(adapter);
    return { address, channel, adapter };
  }

  /** The alarm rings when something is due, and while work is under way, in case this life ends. */
  #arm(): void {
    const { store, now, setAlarm } = this.deps;
    const due = [
      store.deliveries.first()?.not_before ?? null,
      store.turns.next(),
      store.parts.first()?.not_before ?? null,
      store.early.next(),
    ];
    const work = due.some((at) => at !== null) ? due : [this.#findIdleEnd()];
    const times = work.flatMap((at) => (at === null ? [] : [at <= now() ? now() + WATCH_MS : at]));
    if (times.length === 0) return;
    const at = Math.min(...times);
    if (this.#alarmAt !== null && this.#alarmAt <= at && this.#alarmAt > now()) return;
    this.#alarmAt = at;
    setAlarm(at);
  }

  /** When the next part of what a chat without a session keeps is to be forgotten. Null: it keeps nothing. */
  #findIdleEnd(): number | null {
    const { store } = this.deps;
    if (!store.isBare()) return null;
    const heard = store.deliveries.lastClaim();
    if (heard === null) return null;
    return heard + (store.readAddress() === null ? CLAIMS_MS : DAY_MS);
  }

  /** No erasure finds a chat without a session, such as a stranger's. It keeps who talks there for a day, and digests as long as they may help. */
  #forgetIdle(): void {
    const { store, now, scrub, background } = this.deps;
    const end = this.#findIdleEnd();
    if (end === null || end > now()) return;
    store.transaction(() => {
      if (store.readAddress() === null) store.deliveries.forgetClaims(now());
      else store.forgetPeople();
    });
    background(scrub());
  }

  /** Once a day: forgets what no platform brings again. */
  #tidy({ traits }: ChannelAdapter<unknown>): void {
    const { store, now } = this.deps;
    const at = now();
    if (at - (store.times.read("tidied") ?? 0) < DAY_MS) return;
    store.transaction(() => {
      store.times.note("tidied", at);
      store.deliveries.forgetClaims(at - 2 * traits.redelivers_for_ms - DAY_MS);
      store.messages.forget(at - MESSAGE_TTL_MS);
      store.buttons.forget(at);
      store.times.forget(at - DAY_MS);
    });
  }
}
