/** I33: a client's own id names one message of the session, also when requests with the same id overlap. */
import type { StoredEvent } from "../../src/domain/events";
import type { Send } from "./send";
import { CALLER, type World } from "./world";

/** A request that was refused because of its id, and the message that has the id. */
interface Taken {
  readonly clientId: string;
  readonly message: string;
}

export class NameRules {
  readonly #taken: Taken[] = [];

  readonly sends: readonly Send[];

  constructor(sends: readonly Send[]) {
    this.sends = sends;
  }

  noteTaken(send: Send | undefined, message: string): void {
    this.#taken.push({ clientId: send?.clientId ?? "of no message that was sent", message });
  }

  /** At rest. A message that was cancelled while it waited, or redacted by request, has given its id back. */
  async check(world: World, events: readonly StoredEvent[]): Promise<void> {
    const { violations, stats } = world;
    const freed = new Set<string>(
      events.flatMap((event) => {
        if (event.type === "QueuedMessageCancelled") return [event.message];
        return event.type === "MessageRedacted" && event.cause === undefined ? [event.item] : [];
      }),
    );
    const named = Map.groupBy(this.sends, ({ clientId }) => clientId);
    const listIds = (clientId: string): string[] => (named.get(clientId) ?? []).flatMap(({ message }) => message ?? []);
    for (const { clientId, message } of this.#taken) {
      stats.count("client ids taken");
      const isHolder = listIds(clientId).includes(message);
      violations.check(isHolder, "I33", () => `${clientId} was refused because of ${message}, which has another id`);
    }
    const { service } = world.wake();
    const page = { after: null, limit: 5, order: "asc" } as const;
    for (const clientId of named.keys()) {
      if (clientId === "") continue;
      const holders = listIds(clientId).filter((message) => !freed.has(message));
      const found = await service.items(CALLER, { ...page, clientId });
      const shown = found.ok ? found.value.data.map(({ id }) => id) : [];
      violations.check(holders.length <= 1, "I33", () => `${clientId} was given to ${holders}`);
      const same = shown.length === holders.length && shown.every((id) => holders.includes(id));
      violations.check(same, "I33", () => `${clientId} finds ${shown} and names ${holders}`);
    }
  }
}
