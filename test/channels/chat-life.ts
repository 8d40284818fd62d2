/**
 * One life of a chat's object over Node's SQLite, with real sessions, and a platform that a test controls. Another life may follow over the same
 * databases.
 */
import { createNodeSql } from "../../scripts/support/node-sql";
import type { ActOutcome, ChannelAdapter, ChannelTraits, ChatEvent, Delivery, OutboundAct } from "../../src/app/channels/channel";
import { Chat } from "../../src/app/channels/chat";
import type { ChatAddress, OpenChannel } from "../../src/app/channels/chat-api";
import type { ChannelNote, ChatDeps, PlatformAnswer, SessionRefusal, WantedSession } from "../../src/app/channels/chat-ports";
import type { ChatStore } from "../../src/app/channels/chat-store";
import { openChatStore } from "../../src/channels/chat/chat-rows";
import type { ChannelSettings } from "../../src/contract/channel";
import type { SessionDescription } from "../../src/contract/session";
import type { SessionId } from "../../src/domain/ids";
import type { Part } from "../../src/domain/message";
import { err, ok, type Result } from "../../src/lib/result";
import type { SyncSql } from "../../src/lib/sync-sql";
import { Life, notingLog, SPEC, settle } from "../session/life";
import { id, TENANT } from "../support/builders";
import { FakeSchedule } from "../support/fake-schedule";
import { createEmptySql } from "../tenant/memory-sql";

export const SETTINGS: ChannelSettings = {
  type: "generic",
  session_per: "chat",
  model: null,
  policy: null,
  system: null,
  tools: null,
  commands: ["start", "reset", "compact", "context", "undo", "forget", "help"],
  access: { mode: "open" },
  groups: "addressed",
  streaming: false,
  language: null,
};

export const TRAITS: ChannelTraits = {
  fits: (rendered) => rendered.length <= 100,
  edits: null,
  typing: null,
  pace: { messages: 1_000, per_ms: 1_000 },
  redelivers_for_ms: 60_000,
  is_idempotent: false,
  max_buttons: 2,
};

export type SendAct = Extract<OutboundAct, { readonly type: "send" | "edit" }>;

function readAnswer(answer: PlatformAnswer): ActOutcome {
  if (answer.kind === "not_sent") return { kind: "failed", reason: answer.reason };
  return answer.kind === "no_answer" ? { kind: "unknown", reason: "no answer" } : (JSON.parse(answer.response.body) as ActOutcome);
}

/** An adapter whose platform answers with outcomes as they are. */
export function createTestAdapter(traits: ChannelTraits): ChannelAdapter<unknown> {
  return {
    credentials: { parse: (value: unknown) => value } as ChannelAdapter<unknown>["credentials"],
    traits,
    verify: async () => "verified",
    parse: () => ({ kind: "malformed", detail: "" }),
    render: (markdown) => ({ text: markdown, plain: markdown }),
    build: (act) =>
      act.type === "withdraw" ? null : { method: "POST", url: "https://platform.test", headers: {}, body: JSON.stringify(act) },
    read: (_, response) => readAnswer(response ? { kind: "answered", response } : { kind: "no_answer" }),
    buildFileRequest: () => null,
    readFile: () => ({ kind: "failed", reason: "none" }),
  };
}

export const outcome = (answer: ActOutcome): PlatformAnswer => ({
  kind: "answered",
  response: { status: 200, headers: new Headers(), body: JSON.stringify(answer) },
});

interface Told {
  readonly id?: string;
  readonly message?: string;
  readonly chat?: string;
  readonly user?: string;
  readonly name?: string;
  readonly language?: string;
  readonly isGroup?: boolean;
}

export function toDelivery(event: ChatEvent, { id: name = "d1", chat = "c1", user = "u1", ...told }: Told = {}): Delivery {
  return {
    id: name,
    place: { chat, thread: null, is_private: !told.isGroup, target: { chat } },
    user: { id: user, name: told.name ?? "Ada", language: told.language ?? "en" },
    at: 0,
    event,
  };
}

export function toMessage(text: string, told: Told = {}): Delivery {
  const [, name, args = ""] = /^\/(\w+)\s*(.*)$/.exec(text) ?? [];
  const message = told.message ?? told.id ?? "d1";
  const command = name === undefined ? null : { name, args };
  return toDelivery({ type: "message", message, text, files: [], command, is_addressed: true }, told);
}

export const ADDRESS: ChatAddress = { tenant: TENANT, channel: "support", conversation: "chat:c1" };

/** What outlives a life of the object. */
export class ChatWorld {
  readonly sql: SyncSql = createEmptySql();
  readonly time = new FakeSchedule();
  /** By the session's id. */
  readonly lives = new Map<SessionId, Life>();
  readonly externalIds = new Map<string, SessionId>();
  readonly opened: WantedSession[] = [];
  readonly notes: ChannelNote[] = [];
  readonly paired: string[] = [];
  readonly erased: SessionId[] = [];
  /** What the platform was asked, in order. */
  readonly acts: OutboundAct[] = [];
  /** Answers the next acts. When there are none: done. */
  readonly answers: (PlatformAnswer | Promise<PlatformAnswer>)[] = [];
  settings: ChannelSettings = SETTINGS;
  traits: ChannelTraits = TRAITS;
  channel: "there" | "gone" | "away" = "there";
  /** Methods of sessions whose next calls fail. */
  readonly unreachable: string[] = [];
  /** How often a session's stream was opened. */
  streams = 0;
  /** `silent`: the tenant's object never says that a line is stored. */
  log: "there" | "silent" = "there";
  code = "CODE-1234";
  file: Result<Part, { readonly reason: string }> = err({ reason: "none" });
  sessionRefusal: SessionRefusal | null = null;
  takeRequest: (endUser: string) => Awaited<ReturnType<ChatDeps["takeRequest"]>> = () => null;
  alarmAt: number | null = null;
  lost = 0;
  chat: Chat;
  store: ChatStore;
  #messages = 0;

  constructor(change: { readonly settings?: Partial<ChannelSettings>; readonly traits?: Partial<ChannelTraits> } = {}) {
    this.settings = { ...SETTINGS, ...change.settings };
    this.traits = { ...TRAITS, ...change.traits };
    this.store = openChatStore(this.sql);
    this.chat = this.#begin();
  }

  /** The object dies at whatever it awaits. */
  die(): void {
    this.chat = this.#begin();
  }

  #begin(): Chat {
    const life = ++this.lost;
    const isAlive = () => this.lost === life;
    /** What a dead life awaits never comes. */
    const alive = async <T>(work: Promise<T>): Promise<T> => {
      const value = await work;
      return isAlive() ? value : new Promise<T>(() => undefined);
    };
    const deps: ChatDeps = {
      store: openChatStore(this.sql),
      now: this.time.now,
      schedule: (ms, work) => this.time.schedule(ms, () => void (isAlive() && work())),
      digest: async (text) => `digest of ${text.length}`,
      setAlarm: (at) => {
        this.alarmAt = at;
      },
      background: (work) => void work.catch(() => undefined),
      findChannel: () => alive(this.#findChannel()),
      findAdapter: () => createTestAdapter(this.traits),
      sessions: (_, session) => this.#reach(this.findLife(session).service),
      tenant: () => ({
        pairUser: async ({ user, code }) => {
          const isRight = code === this.code;
          if (isRight) this.paired.push(user);
          return isRight;
        },
        note: async (_, note) => (this.log === "silent" ? new Promise<void>(() => undefined) : void this.notes.push(note)),
      }),
      openSession: (_, wanted) => alive(this.#openSession(wanted)),
      eraseSession: async (tenant, session) => {
        this.erased.push(session);
        await this.findLife(session).service.erase({ tenant, session });
      },
      send: (request) => alive(this.#answer(JSON.parse(request.body ?? "{}") as OutboundAct)),
      takeRequest: async (_, endUser) => this.takeRequest(endUser),
      takeFile: async () => this.file,
      scrub: async () => {},
      log: notingLog(),
    };
    this.store = deps.store;
    return new Chat(deps);
  }

  #reach<T extends object>(service: T): T {
    return new Proxy(service, {
      get: (target, name) => {
        const method: unknown = Reflect.get(target, name);
        if (name === "stream") this.streams++;
        const at = this.unreachable.indexOf(String(name));
        if (at >= 0 && this.unreachable.splice(at, 1)) return () => Promise.reject(new Error("The session's object is out of reach"));
        return typeof method === "function" ? method.bind(target) : method;
      },
    });
  }

  async #findChannel(): Promise<OpenChannel | null> {
    if (this.channel === "away") throw new Error("The tenant's object is out of reach");
    return this.channel === "there" ? { settings: this.settings, credentials: null } : null;
  }

  async #openSession(wanted: WantedSession): Promise<Result<SessionDescription, SessionRefusal>> {
    this.opened.push(wanted);
    if (this.sessionRefusal) return err(this.sessionRefusal);
    const session = this.externalIds.get(wanted.external_id) ?? id("ses", this.externalIds.size + 1);
    this.externalIds.set(wanted.external_id, session);
    const { external_id, end_user, metadata } = wanted;
    const { chat } = wanted;
    const input = { model: SPEC.id, policy: "oneclaw", system: null, tools: null, title: null, metadata, external_id, end_user, chat };
    const caller = { tenant: TENANT, session };
    await this.findLife(session).service.open(caller, input);
    const described = await this.findLife(session).service.describe(caller);
    return described.ok ? ok(described.value) : err({ kind: "gone", code: described.error.code });
  }

  async #answer(act: OutboundAct): Promise<PlatformAnswer> {
    this.acts.push(act);
    const answer = this.answers.shift();
    return answer ?? outcome({ kind: "done", message: `p${++this.#messages}` });
  }

  findLife(session: SessionId): Life {
    const known = this.lives.get(session);
    if (known) return known;
    const life = new Life(createNodeSql());
    life.scrubChat = async () => this.chat.scrub();
    life.follow = async (_, turn) => this.chat.follow(turn);
    this.lives.set(session, life);
    return life;
  }

  /** The session that the conversation has now. */
  get life(): Life {
    const session = this.store.sessions.current();
    if (!session) throw new Error("The conversation has no session");
    return this.findLife(session);
  }

  async receive(...deliveries: Delivery[]): Promise<readonly string[]> {
    const { claimed } = this.chat.receive(ADDRESS, deliveries);
    await this.rest();
    return claimed;
  }

  /** Everything that can go on without time goes on. */
  async rest(): Promise<void> {
    for (let turns = 0; turns < 20; turns++) await settle();
  }

  async advance(ms: number): Promise<void> {
    for (const life of this.lives.values()) life.time.advance(ms);
    this.time.advance(ms);
    await this.rest();
    if (this.alarmAt !== null && this.alarmAt <= this.time.now()) {
      this.alarmAt = null;
      this.chat.alarmRang();
      await this.rest();
    }
  }

  async answer(text: string): Promise<void> {
    await this.life.answer(text);
    await this.rest();
  }

  /** The messages that the platform has, as they were sent. */
  get sent(): readonly SendAct[] {
    return this.acts.filter((act): act is SendAct => act.type === "send" || act.type === "edit");
  }

  get texts(): readonly string[] {
    return this.sent.map(({ text }) => text.text);
  }

  count(table: string): number {
    return this.sql.rows<{ n: number }>(`SELECT count(*) AS n FROM ${table}`)[0]?.n ?? 0;
  }
}
