/**
 * The ports of the application layer: what it needs from the outside. The outer folders implement them; the tests' simulation has its own
 * implementations.
 */

import type { Prices } from "../context/economy";
import type { Generation } from "../context/generation";
import type { ModelCapabilities, Provider } from "../context/model-input";
import type { Quirks, RefusedPart } from "../context/model-quirks";
import type { ErasedUsage } from "../domain/erased-usage";
import type { ByteFit, StoredEvent } from "../domain/events";
import type { BodyId, CompactionId, ExecutionId, KeyId, NewId, SessionId, TenantId } from "../domain/ids";
import type { Part, ProviderMetadata, ServerTool, ToolCallPart, ToolDefinition } from "../domain/message";
import type { CallPurpose, CallUsage, FailureKind, FinishReason, ReportedNames } from "../domain/model-call";
import type { ErasureCause } from "../domain/retention-actions";
import type { ToolFailure } from "../domain/tool-run";
import type { SessionAct } from "./audit-chain";

/** Epoch milliseconds. */
export type Clock = () => number;
/** Keeps work alive that its caller does not wait for. The work handles its own failure. */
export type Background = (work: Promise<unknown>) => void;

/** A model as the registry knows it: its limits and its address. It never contains a credential. */
export interface ModelSpec {
  readonly id: string;
  readonly provider: Provider;
  /** The provider's name for the model. */
  readonly upstream_id: string;
  /** Null for the provider's own address. */
  readonly base_url: string | null;
  /** Tokens. Null when unknown: the policy then decides which window to assume (`unknown_window`). */
  readonly context_window: number | null;
  /** The most tokens of one reply. */
  readonly max_output: number;
  /** US dollars per token. Absent when unknown: an unknown price never counts as free. */
  readonly prices?: Prices;
  /** Absent when unknown: requests may then contain all of it. */
  readonly capabilities?: ModelCapabilities;
  /** Where the endpoint differs from what is known of its kind (`findQuirks`). Absent: nowhere. */
  readonly quirks?: Quirks;
  /** Reported tokens divided by estimated tokens, used until a session has learned its own ratio. Absent: 1. */
  readonly ratio?: number;
  /**
   * Name of the tenant's credential. Absent: the deployment's key, if the model is at the provider's own address or is the deployment's.
   */
  readonly credential?: string;
  /** Which side configured the model. It decides whose key is used (`key-source`). */
  readonly source: "deployment" | "tenant";
}

/** The model needs a key and there is none, so it is not called. */
export interface MissingKey {
  readonly missing: true;
}

/** The key to call a model with. Null when it is called without a key. May throw when the tenant's object is unreachable. */
export type Credentials = (model: ModelSpec) => Promise<string | MissingKey | null>;

/** One message as a provider reads it. Tool results are messages of role `tool`, right after the calls. */
export interface ChatMessage {
  readonly role: "system" | "user" | "assistant" | "tool";
  readonly parts: readonly Part[];
}

export interface ModelRequest {
  readonly model: ModelSpec;
  readonly purpose: CallPurpose;
  readonly system: string | null;
  readonly messages: readonly ChatMessage[];
  readonly tools: readonly ToolDefinition[];
  /** The most tokens of the reply. Null: no cap is named, and the reply may use what is left of the window. */
  readonly maxOutput: number | null;
  /** What the reply must be like. Only what the model can express (`fitGeneration`). Absent: the provider's defaults. */
  readonly generation?: Generation;
  /** `off`: the model must not think first, as far as the provider allows that. Absent: the model's own default. */
  readonly reasoning?: "off";
  /**
   * Render everything before the last message of the user in the plainest way: without what only its own provider reads, with all instructions
   * in front, and with images and files in words. Absent: as usual.
   */
  readonly plain?: true;
  /** How many messages at the front stand in for what has left the view; absent: none. They change only with an epoch. */
  readonly older?: number;
  /** When the request is sent, epoch milliseconds. Signed addresses of files depend on it. Absent: now. */
  readonly at?: number;
  /** One value for all requests of a session, so that providers that route by it find their prompt cache again. */
  readonly cacheKey?: string;
  /** For whom limits count the call. Absent: the key of the session's newest turn, and the session's end user. */
  readonly countedFor?: CountedFor;
  /** What the call is paid with. It is not sent. Absent: no budget counts the call. */
  readonly reservation?: number;
}

/** Null: none. */
export interface CountedFor {
  readonly key: KeyId | null;
  readonly end_user: string | null;
}

/** `status`: the provider's HTTP status, if it answered. Only `message` may contain the provider's words or the prompt. */
export interface ModelFailure {
  readonly kind: FailureKind;
  readonly status: number | null;
  /** Milliseconds that the provider asks to wait. Absent when it named no time. */
  readonly retry_after_ms?: number;
  /** The size of a request body that was not sent because it exceeds the bound in bytes. Absent for any other reason. */
  readonly bytes?: ByteFit;
  /**
   * Tokens that would fit, according to the provider: of the whole request (`overflow`) or of the reply (`output_cap`). Absent when it
   * named none.
   */
  readonly limit?: number;
  /**
   * The whole window in tokens, present when `limit` is only what this request left for its reply. Such a `limit` is no limit of the model.
   */
  readonly window?: number;
  /** The most bytes of a request, as the provider named them (`payload`). Absent when it named none. */
  readonly most_bytes?: number;
  /** What the refusal points at. Absent: it does not say, or the failure is no refusal of the request. */
  readonly refused?: RefusedPart;
  /** The provider's own names for the failure. Absent: it gave none that looks like an identifier. */
  readonly reported?: ReportedNames;
  /**
   * What the provider said, at most 4,096 UTF-16 units, without the key of the call. It is content: only `ask-model` reads it. Absent: it said
   * nothing.
   */
  readonly message?: string;
}

/** One piece of a block of text or thinking. */
export interface BlockDelta {
  /** Empty when the piece carries only metadata. */
  readonly text: string;
  /** Consecutive pieces of one type and block form one part. Absent when the provider has no blocks. */
  readonly block?: string;
  /** What the provider wants back with the block, byte for byte. It overrides what earlier pieces of the block carried. */
  readonly provider_metadata?: ProviderMetadata;
}

/** A reply arrives as chunks of well-formed text. The last chunk is `finish` or `failure`. */
export type ModelStreamPart =
  | ({ readonly type: "text" } & BlockDelta)
  | ({ readonly type: "reasoning" } & BlockDelta)
  | { readonly type: "tool_call"; readonly call: ToolCallPart }
  /** What the provider has counted so far. */
  | { readonly type: "usage"; readonly usage: CallUsage }
  | { readonly type: "finish"; readonly finish: FinishReason; readonly usage: CallUsage | null }
  | { readonly type: "failure"; readonly failure: ModelFailure };

export interface CallOptions {
  /** Aborting closes the provider's connection; the stream then ends with failure `aborted`. */
  readonly signal: AbortSignal;
  /** Called once with the exact request body, just before it is sent. */
  readonly onRequest?: (body: string) => void;
  /**
   * Called whenever the provider writes part of a reply, even if no chunk follows yet: the arguments of a call are only complete at their
   * end.
   */
  readonly onProgress?: () => void;
  /** Called for anything that comes from the provider, including response headers, pings and comments. */
  readonly onAlive?: () => void;
}

/** The exact request that would be sent. */
export interface RenderedRequest {
  readonly url: string;
  readonly body: string;
}

/** A chat model. Failures are chunks, never exceptions. */
export interface ChatModel {
  stream(request: ModelRequest, options: CallOptions): AsyncIterable<ModelStreamPart>;
  /** The request that `stream` would send, byte for byte, without sending it. */
  render(request: ModelRequest): Promise<RenderedRequest>;
}

/** A call of a tool that runs on this side. Its arguments are parsed and match the tool's schema. */
export interface ToolRequest {
  readonly tool: ServerTool;
  /** The name that the model uses. */
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** Identifies the call for good. The tool's server may use it to reject a duplicate. */
  readonly execution: ExecutionId;
  /** Whether a person approved this call. */
  readonly allowed: boolean;
}

/** Data that a tool returned beside its output, stored by reference. `content` is any JSON value. */
export interface ToolArtifact {
  readonly type: string;
  readonly content: unknown;
}

/** `output` is what the model reads, for failures too. It is cut to size when it is recorded. */
export interface ToolOutcome {
  readonly output: string;
  /** Null when the call succeeded. */
  readonly failure: ToolFailure | null;
  readonly artifacts?: readonly ToolArtifact[];
  /** The producer has bounded the output already, and says in it how to read on: it is recorded uncut. */
  readonly whole?: true;
  /** The positions that a look-up's output quotes. */
  readonly read?: readonly number[];
}

/** Runs a tenant's tools. Failures are outcomes, never exceptions; an abort ends the call soon. */
export interface ToolRunner {
  /** Whether the tool's current registration requires approval of each call. May throw when the registration is unreachable. */
  needsApproval(tool: ServerTool): Promise<boolean>;
  run(request: ToolRequest, options: { readonly signal: AbortSignal }): Promise<ToolOutcome>;
}

/** Looks up a model for the session's tenant. Null when the tenant has no such model. May throw when the registry is unreachable. */
export interface ModelDirectory {
  resolve(model: string): Promise<ModelSpec | null>;
}

/** A wake-up without a payload: the worker asks the session's object for the plan when it starts. */
export interface CompactionJob {
  readonly tenant: TenantId;
  readonly session: SessionId;
  readonly compaction: CompactionId;
}

export interface CompactionQueue {
  send(job: CompactionJob): Promise<void>;
}

/** Events of one session in order of seq, with the bodies that they introduce. */
export interface ProjectionBatch {
  readonly tenant: TenantId;
  readonly session: SessionId;
  readonly events: readonly StoredEvent[];
  readonly bodies: ReadonlyMap<BodyId, string>;
}

/** The read model of sessions. Writing one batch twice, or an older batch late, changes nothing. */
export interface Projection {
  write(batch: ProjectionBatch): Promise<void>;
  /**
   * Hides the session, and removes every row of it except its tombstone. The ledger's rows go last, in one transaction with what remains of
   * them. `rows` null: a part is left, and is removed by the next call.
   */
  erase(input: {
    readonly tenant: TenantId;
    readonly session: SessionId;
    readonly at: number;
    /** The session's usage as the tenant's object keeps it. Absent: rows that were written before stay. */
    readonly usage?: readonly ErasedUsage[];
  }): Promise<{ readonly rows: number | null }>;
  /** Removes the end user of the calls at these positions. False: a rebuild was under way, and must be waited for. */
  forgetEndUsers(input: { readonly tenant: TenantId; readonly session: SessionId; readonly calls: readonly number[] }): Promise<boolean>;
}

/** The ledger of a tenant's erased sessions. Throws when the tenant's object is unreachable. */
export interface UsageArchive {
  /** Stores the usage of the session's calls and returns what is stored. An empty list only reads. Repeating a call changes nothing. */
  keep(session: SessionId, usage: readonly ErasedUsage[], cause?: ErasureCause): Promise<readonly ErasedUsage[]>;
  /** Stores what a throwaway session used and ends its references to files. Its object may be emptied then. Repeating a call changes nothing. */
  endThrowaway(session: SessionId, usage: readonly ErasedUsage[]): Promise<void>;
}

/** The audit log of a tenant, as a session reaches it. Throws when the tenant's object is unreachable. */
export interface ActRecorder {
  /** In order of their seq. Repeating a call changes nothing. */
  record(session: SessionId, acts: readonly SessionAct[]): Promise<void>;
}

/** Structured logging. Fields never contain content, prompts or credentials. */
export interface Log {
  info(event: string, fields?: Readonly<Record<string, unknown>>): void;
  warn(event: string, fields?: Readonly<Record<string, unknown>>): void;
  error(event: string, fields?: Readonly<Record<string, unknown>>): void;
}

export interface Ids {
  readonly newId: NewId;
}

/** Seals text that a client keeps for this service. Only the tenant for which it was sealed can have it opened. */
export interface CompactionSealer {
  seal(tenant: TenantId, text: string): Promise<string>;
  /** The same text has the same seal for a tenant, whenever it is made. */
  sealAlike(tenant: TenantId, text: string): Promise<string>;
  /** Null when this deployment did not seal it for the tenant, or it was changed since. */
  open(tenant: TenantId, sealed: string): Promise<string | null>;
}
