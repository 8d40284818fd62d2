/**
 * The Durable Object of one conversation of a channel: the composition root that the platform constructs. It passes the world in as ports, and
 * takes its methods from `chatCalls`. `Chat` holds the conversation.
 */
import { DurableObject } from "cloudflare:workers";
import type { Act } from "../../app/audit-chain";
import { Chat } from "../../app/channels/chat";
import type { ChatDeps, TakenFile, WantedSession } from "../../app/channels/chat-ports";
import { eraseSession } from "../../app/erase-session";
import { listRequestRules } from "../../app/limit-owners";
import { newId } from "../../app/new-id";
import { findChannelFor, pairUserFor } from "../../channel-wiring";
import type { SessionId, TenantId } from "../../domain/ids";
import { type Env, parseConfig } from "../../env";
import { storeFile } from "../../http/store-file";
import { createLog } from "../../lib/log";
import { err, ok } from "../../lib/result";
import { scrub } from "../../lib/scrub/scrub";
import { sha256 } from "../../lib/sha256";
import { createSyncSql } from "../../lib/sync-sql";
import { takeMethods } from "../../lib/take-methods";
import { startTimer } from "../../lib/timer";
import { createSessionList } from "../../read-model/queries";
import { buildFileStore, limitsFor, ratesFor, sessionStub, tenantStub, toolFetchFor } from "../../wiring";
import { findAdapter } from "../adapters";
import { chatCalls } from "./chat-calls";
import { takeChatFile } from "./chat-files";
import { openChatStore } from "./chat-rows";
import { openChatSession } from "./open-chat-session";
import { createPlatformClient } from "./platform-client";

type ToolFetch = ReturnType<typeof toolFetchFor>;

export class ChatObject extends DurableObject<Env> {
  readonly #chat: Chat;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    const log = createLog({ object: "chat" });
    // The configuration is parsed on first use: the object must be constructed even when a variable is wrong, or the platform drops its alarm.
    const fetch = (request: Parameters<ToolFetch>[0]) => toolFetchFor(parseConfig(env).ALLOW_PRIVATE_TOOL_URLS)(request);
    this.#chat = new Chat({
      store: openChatStore(createSyncSql(ctx.storage)),
      now: Date.now,
      schedule: startTimer,
      digest: sha256,
      setAlarm: (at) => ctx.waitUntil(ctx.storage.setAlarm(at)),
      background: (work) => ctx.waitUntil(work),
      findChannel: findChannelFor(env),
      findAdapter,
      sessions: (tenant, session) => sessionStub(env, tenant, session),
      tenant: (tenant) => ({
        pairUser: async (asked) => (await pairUserFor(env)({ tenant, ...asked })) === "paired",
        note: async (channel, note) => void (await tenantStub(env, tenant).noteChannelLog(channel, [note])),
      }),
      openSession: (tenant, wanted) => openChatSession(buildOpening(env, tenant, wanted), wanted),
      eraseSession: (tenant, session) => eraseFor(env, tenant, session),
      send: createPlatformClient({ fetch, schedule: startTimer }),
      takeRequest: (tenant, endUser) => takeRequest(env, tenant, endUser),
      takeFile: (taken) => takeFile(env, taken, { fetch, log }),
      scrub: () => scrub(ctx.storage),
      log,
    });
  }

  override async alarm(): Promise<void> {
    this.#chat.alarmRang();
  }

  static {
    takeMethods(ChatObject, chatCalls, (object) => object.#chat);
  }
}

function buildOpening(env: Env, tenant: TenantId, { chat }: WantedSession): Parameters<typeof openChatSession>[0] {
  return {
    tenant: tenantStub(env, tenant),
    deploymentPolicy: parseConfig(env).POLICY,
    ports: {
      register: async (naming) => {
        const registered = await tenantStub(env, tenant).registerSession({ session: newId("ses"), idempotency: null, chat, ...naming });
        return { registered, isKeyed: false };
      },
      open: (session, input) => sessionStub(env, tenant, session).open({ tenant, session }, { ...input, chat }),
      describe: (session) => sessionStub(env, tenant, session).describe({ tenant, session }),
      forget: (session) => tenantStub(env, tenant).forgetSession(session),
    },
  };
}

/** The service acts for a person who has no key. A repetition is the same act. */
async function eraseFor(env: Env, tenant: TenantId, session: SessionId): Promise<void> {
  const act: Act = { actor: { kind: "system", id: null }, request_id: null, nonce: `chat ${session}` };
  const erased = await eraseSession<never>(
    { session },
    {
      tenant: {
        beginErasure: (note) => tenantStub(env, tenant).beginErasure(act, note),
        releaseFiles: (ended) => tenantStub(env, tenant).releaseFiles(ended),
        noteErasure: (ended, pending) => tenantStub(env, tenant).noteErasure(ended, pending),
        endErasure: (ended) => tenantStub(env, tenant).endErasure(ended),
      },
      erase: (isNoted, condition) => sessionStub(env, tenant, session).erase({ tenant, session }, isNoted, condition),
      isListed: async () => ok(await createSessionList(env).isListed({ tenant, session })),
    },
  );
  if (!erased.ok && erased.error.code !== "session_not_found") throw new Error(erased.error.code);
}

async function takeRequest(env: Env, tenant: TenantId, endUser: string): ReturnType<ChatDeps["takeRequest"]> {
  const limits = await limitsFor(env)(tenant);
  const rules = limits ? listRequestRules({ end_user: endUser }, limits) : [];
  if (rules.length === 0) return null;
  const { refused } = await ratesFor(env).admit(tenant, rules);
  return refused && { of: refused.of, passes_at: refused.ends_at };
}

interface FileWorld {
  readonly fetch: ToolFetch;
  readonly log: ReturnType<typeof createLog>;
}

async function takeFile(env: Env, taken: TakenFile, { fetch, log }: FileWorld): ReturnType<ChatDeps["takeFile"]> {
  const adapter = findAdapter(taken.channel.settings.type);
  const upload = {
    files: (tenant: TenantId) => buildFileStore(env, tenant),
    tenants: (tenant: TenantId) => tenantStub(env, tenant),
    newId,
    schedule: startTimer,
    log,
  };
  const deps: Parameters<typeof takeChatFile>[0] = {
    adapter,
    fetch,
    schedule: startTimer,
    store: async (tenant, { name, declared, bytes, key }) => {
      const identify = async (digest: string) => ({ key: `chat ${key}`, digest });
      const sent = { field: "file", name, declared, body: new Blob([bytes]).stream(), bytes: bytes.byteLength, identify };
      const stored = await storeFile(upload, tenant, sent);
      return stored.ok ? ok(stored.value.file.id) : stored;
    },
    use: async (tenant, { session, file }) => {
      const used = await tenantStub(env, tenant).useFiles({ session, files: [file] });
      if (!used.ok) return used;
      const [facts] = used.value;
      return facts ? ok(facts) : err({ code: "file_not_found" });
    },
  };
  return takeChatFile(deps, taken);
}
