/**
 * The Durable Object of one WebSocket for responses. It sleeps while the client says nothing: what must survive that is in the socket's
 * attachment and in the object's storage. One response is under way at a time; its turn is of its session's object, and goes on without
 * the socket.
 */
import { DurableObject } from "cloudflare:workers";
import type { Principal } from "../../../app/principal";
import { parseId, type SessionId } from "../../../domain/ids";
import type { Env } from "../../../env";
import { toErrorName } from "../../../lib/error-name";
import { serveRequest } from "../../../lib/request-scope";
import { err, ok, type Result } from "../../../lib/result";
import { LONG_BODY_LIMIT } from "../../body";
import { readMarks } from "../../calls";
import type { Asker, HttpDeps, HttpEnv, SocketHolder } from "../../deps";
import type { HttpError } from "../../problem";
import { refuseRate } from "../../rate-limits";
import { sessionClient } from "../../session-calls";
import { openStreamSlot } from "../../stream-limits";
import { type CreateMessage, isTooLarge, parseSocketMessage, toErrorMessage, toRefusalMessage } from "./socket-message";
import { answerOnSocket, type CachedResponse, type SocketAnswer } from "./socket-response";
import { completeWarmUp, dropWarmUp, keepWarmUp, readWarmUp } from "./socket-warm-up";

/** As long as OpenAI keeps a connection. */
const LIFETIME_MS = 60 * 60_000;
/** A socket of which nothing is heard that long is closed. */
const IDLE_MS = 15 * 60_000;
/** Until what could not be ended or erased is tried again. */
const AGAIN_MS = 60_000;

/** The close codes of RFC 6455 §7.4.1. */
const [NORMAL, POLICY, TOO_BIG] = [1000, 1008, 1009];

const HOLDER = "x-longhand-holder";
const UNSTORED = "unstored:";

interface Connection {
  readonly holder: SocketHolder;
  readonly opened_at: number;
  readonly heard_at: number;
  readonly cached: CachedResponse | null;
  /** The response of a warm-up, whose request is in the storage. */
  readonly warm: string | null;
}

const BUSY = { code: "response_in_progress", message: "One response at a time: another one is under way on this connection.", param: null };
const TOO_OLD = {
  code: "websocket_connection_limit_reached",
  message: "Responses websocket connection limit reached (60 minutes). Create a new websocket connection to continue.",
  param: null,
};

interface Asked {
  readonly message: CreateMessage;
  readonly requestId: string;
}

/** The request as an object of this class receives it. */
export function toSocketRequest(request: Request, holder: SocketHolder): Request {
  const headers = new Headers({ upgrade: "websocket", [HOLDER]: JSON.stringify(holder) });
  return new Request(request.url, { headers });
}

/** `build` is called once for each life of an object. */
export function defineSocketObject(build: (env: Env) => HttpDeps) {
  return class extends DurableObject<Env> {
    readonly #deps: HttpDeps;
    #isBusy = false;

    constructor(ctx: DurableObjectState, env: Env) {
      super(ctx, env);
      this.#deps = build(env);
      ctx.setWebSocketAutoResponse(new WebSocketRequestResponsePair("ping", "pong"));
    }

    override async fetch(request: Request): Promise<Response> {
      const holder: SocketHolder = JSON.parse(request.headers.get(HOLDER) ?? "null");
      const { 0: client, 1: server } = new WebSocketPair();
      const now = this.#deps.now();
      this.ctx.acceptWebSocket(server);
      server.serializeAttachment({ holder, opened_at: now, heard_at: now, cached: null, warm: null } satisfies Connection);
      await this.ctx.storage.setAlarm(now + IDLE_MS);
      return new Response(null, { status: 101, webSocket: client });
    }

    override async webSocketMessage(socket: WebSocket, message: string | ArrayBuffer): Promise<void> {
      const requestId = crypto.randomUUID();
      return serveRequest(requestId, () => this.#serve(socket, message, requestId));
    }

    async #serve(socket: WebSocket, message: string | ArrayBuffer, requestId: string): Promise<void> {
      const parsed = parseSocketMessage(message);
      const lane = parsed.ok ? parsed.value.lane : null;
      if (this.#isBusy) return send(socket, toErrorMessage({ status: 409, error: BUSY }, lane));
      this.#isBusy = true;
      this.#note(socket, { heard_at: this.#deps.now() });
      const answer = parsed.ok ? await this.#answer(socket, { message: parsed.value, requestId }) : parsed;
      const left = await this.#listLeft(this.#read(socket).cached);
      // From here on the client may send its next request.
      this.#isBusy = false;
      send(socket, answer.ok ? answer.value : toRefusalMessage(answer.error, { requestId, lane }));
      if (isTooLarge(message)) close(socket, TOO_BIG, "message too large");
      if (!answer.ok && answer.error.code === "unauthorized") close(socket, POLICY, "the key is not valid any more");
      await this.#eraseAll(left);
    }

    override async webSocketClose(socket: WebSocket): Promise<void> {
      close(socket, NORMAL, "");
      await this.#end();
    }

    override async webSocketError(): Promise<void> {
      await this.#end();
    }

    /** Ends what is idle or too old, and erases what a lost connection has left. */
    override async alarm(): Promise<void> {
      const [socket] = this.ctx.getWebSockets();
      if (!socket) return this.#end();
      const { opened_at, heard_at } = this.#read(socket);
      const now = this.#deps.now();
      const heard = Math.max(heard_at, this.ctx.getWebSocketAutoResponseTimestamp(socket)?.getTime() ?? 0);
      const end = Math.min(opened_at + LIFETIME_MS, heard + IDLE_MS);
      if (this.#isBusy || now < end) return this.ctx.storage.setAlarm(Math.max(end, now + (this.#isBusy ? AGAIN_MS : 0)));
      if (now >= opened_at + LIFETIME_MS) send(socket, toErrorMessage({ status: 400, error: TOO_OLD }));
      close(socket, NORMAL, now >= opened_at + LIFETIME_MS ? "too old" : "idle");
      await this.#end();
    }

    /** The last message of the answer. */
    async #answer(socket: WebSocket, asked: Asked): Promise<Result<string, HttpError>> {
      const { requestId } = asked;
      const { holder, cached } = this.#read(socket);
      const completed = await this.#complete(socket, asked.message);
      if (!completed.ok) return completed;
      const message = completed.value;
      const answered = await this.#ask(socket, { message, requestId });
      await this.#noteWarmUp(socket, message, answered.ok ? answered.value.warm : null);
      // What failed to continue the cached response ends it. Another fault leaves it.
      const isGone = cached !== null && message.body.previous_response_id === cached.response;
      this.#note(socket, { cached: answered.ok ? answered.value.cached : isGone ? null : cached });
      this.#deps.log.info("http.socket_response", {
        request_id: requestId,
        tenant: holder.tenant,
        key: holder.key,
        ...(!answered.ok && { error: answered.error.code }),
      });
      return answered.ok ? ok(answered.value.last) : answered;
    }

    /** A request behind a warm-up has its input, too. */
    async #complete(socket: WebSocket, message: CreateMessage): Promise<Result<CreateMessage, HttpError>> {
      const { warm } = this.#read(socket);
      const kept = warm !== null && message.body.previous_response_id === warm ? await readWarmUp(this.ctx.storage) : null;
      if (!kept) return ok(message);
      const body = completeWarmUp(kept, message.body);
      return isTooLarge(JSON.stringify(body)) ? err({ code: "body_too_large", limit: LONG_BODY_LIMIT }) : ok({ ...message, body });
    }

    /** A warm-up lasts until the next request. */
    async #noteWarmUp(socket: WebSocket, { body }: CreateMessage, warm: string | null): Promise<void> {
      const { warm: before } = this.#read(socket);
      if (before !== null) await dropWarmUp(this.ctx.storage);
      if (warm !== null) await keepWarmUp(this.ctx.storage, body);
      if (before !== null || warm !== null) this.#note(socket, { warm });
    }

    async #ask(socket: WebSocket, { message, requestId }: Asked): Promise<Result<SocketAnswer, HttpError>> {
      const { holder } = this.#read(socket);
      try {
        const principal = await this.#findHolder(holder);
        if (!principal) return err({ code: "unauthorized" });
        if (!principal.scopes.includes("sessions:write")) return err({ code: "forbidden", scope: "sessions:write" });
        const limited = await refuseRate(principal, this.#deps);
        if (limited) return err(limited);
        return await this.#answerFor(socket, { message, requestId, principal });
      } catch (error) {
        this.#deps.log.error("http.socket_defect", { request_id: requestId, name: toErrorName(error) });
        const { overloaded, retryable } = readMarks(error);
        return err({ code: overloaded ? "overloaded" : retryable ? "unavailable" : "internal" });
      }
    }

    /** A response is a stream of its caller while it is under way. A socket that says nothing sleeps, and is none. */
    async #answerFor(
      socket: WebSocket,
      { message, ...asker }: Asked & { readonly principal: Principal },
    ): Promise<Result<SocketAnswer, HttpError>> {
      const { holder, cached } = this.#read(socket);
      const slot = await openStreamSlot(asker.principal, this.#deps);
      if (!slot.ok) return slot;
      try {
        return await answerOnSocket({
          c: toAsker(asker),
          deps: this.#deps,
          message,
          cached,
          keep: (session) => this.ctx.storage.put(UNSTORED + session, holder),
          send: (text) => send(socket, text),
        });
      } finally {
        await slot.value.free();
      }
    }

    /** Null when the key is unknown, revoked or expired. */
    async #findHolder({ tenant, hash }: SocketHolder) {
      const principal = await this.#deps.findKey(tenant, hash);
      return principal?.expires_at != null && principal.expires_at <= this.#deps.now() ? null : principal;
    }

    #read(socket: WebSocket): Connection {
      return socket.deserializeAttachment();
    }

    #note(socket: WebSocket, changes: Partial<Connection>): void {
      socket.serializeAttachment({ ...this.#read(socket), ...changes });
    }

    /** The sessions that the connection cannot continue. */
    async #listLeft(cached: CachedResponse | null): Promise<ReadonlyMap<string, SocketHolder>> {
      const noted = await this.ctx.storage.list<SocketHolder>({ prefix: UNSTORED });
      if (cached) noted.delete(UNSTORED + cached.session);
      return noted;
    }

    async #eraseAll(left: ReadonlyMap<string, SocketHolder>): Promise<void> {
      for (const [name, holder] of left) {
        const session = parseId("ses", name.slice(UNSTORED.length));
        if (session && (await this.#erase(session, holder))) await this.ctx.storage.delete(name);
      }
    }

    /** After the connection. What cannot be erased now is tried again. */
    async #end(): Promise<void> {
      await this.#eraseAll(await this.#listLeft(null));
      const left = await this.#listLeft(null);
      if (left.size > 0 || this.#isBusy) return this.ctx.storage.setAlarm(this.#deps.now() + AGAIN_MS);
      await this.ctx.storage.deleteAlarm();
      await this.ctx.storage.deleteAll();
    }

    async #erase(session: SessionId, { tenant, key }: SocketHolder): Promise<boolean> {
      const c = toAsker({ requestId: crypto.randomUUID(), principal: { tenant, key, scopes: [], expires_at: null } });
      try {
        const erased = await sessionClient(this.#deps, c, session).repeatable((api, caller) => api.erase(caller, false));
        return erased.ok || erased.error.code === "session_not_found";
      } catch (error) {
        this.#deps.log.warn("http.throwaway_left", { session, error: toErrorName(error) });
        return false;
      }
    }
  };
}

function toAsker(variables: HttpEnv["Variables"]): Asker {
  return { get: (name) => variables[name], req: { method: "POST", path: "/v1/responses" } };
}

/** A client that has gone misses it. */
function send(socket: WebSocket, text: string): void {
  if (socket.readyState === WebSocket.OPEN) socket.send(text);
}

function close(socket: WebSocket, code: number, reason: string): void {
  if (socket.readyState === WebSocket.OPEN || socket.readyState === WebSocket.CLOSING) socket.close(code, reason);
}
