/** End users are erased while sessions are made, forked and given to others, and while objects die: the real directory and the real list of erasures. */
import fc from "fast-check";
import { expect, it } from "vitest";
import type { SessionId } from "../../src/domain/ids";
import { createErasures, type Erasures } from "../../src/tenant/erasure/erasures";
import { createDirectory } from "../../src/tenant/shared/directory";
import { ACT } from "../support/act";
import { drawn } from "../support/effort";
import { createMigratedSql } from "./memory-sql";
import { makeId, NOTHING_TO_FORGET } from "./support";

const USERS = ["ada", "eve"] as const;
type User = (typeof USERS)[number];

/** What a session's object would know. Null as its user: it is registered and not opened yet. */
interface Session {
  user: User | null;
  readonly source: SessionId | null;
  erased: boolean;
  /** The users that it had, and the one for whom it was registered. */
  readonly had: Set<User>;
}

const user = fc.constantFrom(...USERS);
const nth = fc.nat({ max: 9 });
const action = fc.oneof(
  fc.record({ do: fc.constant("create" as const), user }),
  fc.record({ do: fc.constant("fork" as const), nth }),
  fc.record({ do: fc.constant("open" as const), nth }),
  fc.record({ do: fc.constant("unlabel" as const), nth }),
  fc.record({ do: fc.constant("give" as const), nth, user }),
  fc.record({ do: fc.constant("erase" as const), user }),
  fc.record({ do: fc.constant("ring" as const), away: fc.boolean() }),
  fc.record({ do: fc.constant("die" as const) }),
);
type Action = typeof action extends fc.Arbitrary<infer A> ? A : never;

class World {
  readonly sql = createMigratedSql();
  readonly directory = createDirectory(this.sql);
  readonly sessions = new Map<SessionId, Session>();
  /** Sessions that their user's erasure has to reach: they had the user when the request arrived. */
  readonly owed = new Set<SessionId>();
  /** Sessions whose end user may be changed, because the directory has forgotten what it knew. */
  readonly unlabelled = new Set<SessionId>();
  readonly time = { now: 1, alarm: null as number | null };
  away = false;
  #erasures = this.#start();
  #made = 0;

  #start(): Erasures {
    const { time } = this;
    return createErasures({
      sql: this.sql,
      alarm: { get: async () => time.alarm, set: (at) => void Object.assign(time, { alarm: at }) },
      erase: async (id) => {
        const session = this.sessions.get(id);
        if (this.away || !session) throw new Error("away");
        session.erased = true;
        return true;
      },
      readLabels: async (id) => {
        const session = this.sessions.get(id);
        if (this.away || !session) throw new Error("away");
        if (session.erased) return { end_user: null, source: null };
        return session.user && { end_user: session.user, source: session.source };
      },
      hide: async () => {},
      sweep: async () => true,
      ...NOTHING_TO_FORGET,
      newErasureId: () => makeId("era", ++this.#made),
      now: () => time.now,
      log: { info: () => {}, warn: () => {}, error: () => {} },
    });
  }

  async act(asked: Action): Promise<void> {
    this.time.now += 1;
    const ids = [...this.sessions.keys()];
    const id = "nth" in asked ? ids[asked.nth % Math.max(ids.length, 1)] : undefined;
    if (asked.do === "create") return this.#register(asked.user, null);
    if (asked.do === "erase") return this.#erase(asked.user);
    if (asked.do === "die") this.#erasures = this.#start();
    if (asked.do === "ring") await this.#ring(asked.away);
    const session = id && this.sessions.get(id);
    if (!id || !session) return;
    if (asked.do === "fork" && session.user && !session.erased) this.#register(session.user, id);
    if (asked.do === "open") this.#open(id, session);
    if (asked.do === "unlabel" && this.directory.has(id)) {
      this.directory.give({ session: id, end_user: null });
      this.unlabelled.add(id);
    }
    if (asked.do === "give" && this.unlabelled.delete(id) && session.user && !session.erased) {
      session.user = asked.user;
      session.had.add(asked.user);
      this.owed.delete(id);
    }
  }

  #register(owner: User, source: SessionId | null): void {
    const id = makeId("ses", this.sessions.size + 1);
    const registration = { session: id, idempotency: null, at: this.time.now, end_user: owner };
    const made = this.sql.transaction(() => this.directory.register({ ...registration, ...(source && { source }) }));
    if (made.ok) this.sessions.set(id, { user: null, source, erased: false, had: new Set([owner]) });
  }

  /** A tombstone refuses. A copy needs its source, and has its end user. */
  #open(id: SessionId, session: Session): void {
    if (session.user || session.erased || !this.directory.has(id)) return;
    const source = session.source && this.sessions.get(session.source);
    if (source?.erased) return;
    session.user = source ? source.user : ([...session.had][0] ?? null);
    if (session.user) session.had.add(session.user);
  }

  #erase(asked: User): void {
    this.sql.transaction(() => this.#erasures.beginEndUser(asked, ACT));
    for (const [id, session] of this.sessions) if (session.user === asked && !session.erased) this.owed.add(id);
  }

  async #ring(away: boolean): Promise<void> {
    this.away = away;
    this.time.now = Math.max(this.time.now, this.time.alarm ?? 0);
    this.time.alarm = null;
    await this.#erasures.run();
    this.away = false;
  }

  /** Every store answers, and the alarm rings until nothing is due. */
  async rest(): Promise<void> {
    this.#erasures = this.#start();
    await this.#erasures.resume();
    for (let rings = 0; this.time.alarm !== null; rings++) {
      expect(rings).toBeLessThan(100);
      await this.#ring(false);
    }
  }

  get running(): number {
    return this.sql.rows("SELECT 1 FROM erasures UNION ALL SELECT 1 FROM erasure_receipts WHERE done_at IS NULL").length;
  }
}

it("an end user's erasure reaches every session that the end user had, its late copies too, and none of another", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(action, { maxLength: 60 }), async (actions) => {
      const world = new World();
      for (const each of actions) await world.act(each);
      await world.rest();

      const asked = new Set(actions.flatMap((each) => (each.do === "erase" ? [each.user] : [])));
      expect(world.running).toBe(0);
      for (const [id, { erased, had }] of world.sessions) {
        if (world.owed.has(id)) expect(erased).toBe(true);
        if ([...had].every((name) => !asked.has(name))) expect([erased, world.directory.has(id)]).toEqual([false, true]);
        if (!erased) continue;
        expect(world.directory.has(id)).toBe(false);
        const late = { session: makeId("ses", 999), idempotency: null, source: id, at: world.time.now };
        expect(world.directory.register(late)).toMatchObject({ ok: false, error: { code: "session_erased" } });
      }
    }),
    { numRuns: drawn(200) },
  );
});
