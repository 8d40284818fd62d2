/** What the stories need of the world. Implementations live in the outer folders; the simulation has its own. */
import type { Prices } from "../context/economy";
import type { ErasedUsage } from "../domain/erased-usage";
import type { ByteFit, StoredEvent } from "../domain/events";
import type { BodyId, CompactionId, ExecutionId, NewId, SessionId, TenantId } from "../domain/ids";
import type { Part, ProviderMetadata, ServerTool, ToolCallPart, ToolDefinition } from "../domain/message";
import type { CallPurpose, CallUsage, FailureKind, FinishReason } from "../domain/model-call";
import type { ToolFailure } from "../domain/tool-run";

/** Epoch milliseconds. */
export type Clock = () => number;

/**
 * Who serves a model, and how it is spoken to. `openai`: Responses; `openai-chat`: its chat completions; `openai-compatible`: chat
 * completions at any other address.
 */
export const PROVIDERS = ["embedded", "openai", "openai-chat", "openai-compatible", "anthropic", "google", "workers-ai"] as const;
export type Provider = (typeof PROVIDERS)[number];

/** What a request may hold. What a model cannot read is named in words instead. */
export interface ModelCapabilities {
  readonly tools: boolean;
  readonly images: boolean;
  readonly files: boolean;
  /** It can be told to think, or not to. */
  readonly reasoning: boolean;
}

/** A model as the registry knows it: limits, and where it is. Never a credential. */
export interface ModelSpec {
  readonly id: string;
  readonly provider: Provider;
  /** The name that the provider knows it by. */
  readonly upstream_id: string;
  /** Null: the provider's own address. */
  readonly base_url: string | null;
  /** Tokens; null: unknown, and the conversation is never compacted (FEAT-011, compact rule 3). */
  readonly context_window: number | null;
  /** Tokens of one reply, at most. */
  readonly max_output: number;
  /** US dollars per token; absent: unknown, which is never free. */
  readonly prices?: Prices;
  /** Absent: unknown, and all of it is tried. */
  readonly capabilities?: ModelCapabilities;
  /** Reported tokens over estimated ones, before a session has learned its own; absent: 1. */
  readonly ratio?: number;
  /** Name of the tenant's credential; absent: the deployment's key, where the model is at the provider's own address or the deployment's. */
  readonly credential?: string;
  /** Who configured it, which decides whose key it is called with (`key-source`). */
  readonly source: "deployment" | "tenant";
}

/** The model is called with a key, and there is none: it is not called at all. */
export interface MissingKey {
  readonly missing: true;
}

/** The key that a model is called with; null: it is called without one. May throw when the tenant's object is out of reach. */
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
  /** Tokens of the reply, at most; null: as many as the window still holds. */
  readonly maxOutput: number | null;
  /** Whether the model may think first. `off`: not at all, where it can be told so; absent: as it does by itself. */
  readonly reasoning?: "off";
  /** So many messages in front stand for what is no longer in the view; absent: none. They change with an epoch only. */
  readonly older?: number;
  /** The same for all requests of a session: providers that route by it find their cache again. */
  readonly cacheKey?: string;
}

/** `status`: the provider's HTTP status, if it answered. Never its raw body or the prompt. */
export interface ModelFailure {
  readonly kind: FailureKind;
  readonly status: number | null;
  /** Milliseconds that the provider asks to wait; absent: it did not say. */
  readonly retry_after_ms?: number;
  /** The request's body, which was not sent because it was larger than any may be; absent: that was not the reason. */
  readonly bytes?: ByteFit;
  /** Tokens that the provider says would fit: of the whole request (`overflow`), of the reply (`output_cap`); absent: it did not say. */
  readonly limit?: number;
  /** The whole window, where `limit` is only what this request left of it to its reply: of the model it says nothing else. */
  readonly window?: number;
}

/** A piece of a block of text or thinking. */
export interface SpokenPiece {
  /** Empty where only metadata comes. */
  readonly text: string;
  /** Pieces of one type and block that follow one another are one part; absent: the provider has no blocks. */
  readonly block?: string;
  /** What the provider wants back with the block, byte for byte: it goes over what the block had. */
  readonly provider_metadata?: ProviderMetadata;
}

/** A reply arrives as chunks, all of their text well formed; the last is `finish` or `failure`. */
export type ModelChunk =
  | ({ readonly type: "text" } & SpokenPiece)
  | ({ readonly type: "reasoning" } & SpokenPiece)
  | { readonly type: "tool_call"; readonly call: ToolCallPart }
  | { readonly type: "finish"; readonly finish: FinishReason; readonly usage: CallUsage | null }
  | { readonly type: "failure"; readonly failure: ModelFailure };

export interface CallOptions {
  /** Aborting closes the provider's connection; the stream then ends with failure `aborted`. */
  readonly signal: AbortSignal;
  /** Told the exact request body, once, just before it is sent. */
  readonly onRequest?: (body: string) => void;
  /** Told whenever the provider is heard to write, also where nothing comes out of it yet, as of a call's arguments before their end. */
  readonly onProgress?: () => void;
  /** Told whenever anything comes from the provider, also what says nothing of the reply: the answer's headers, pings, comments. */
  readonly onAlive?: () => void;
}

/** The exact request that would be sent. */
export interface RenderedRequest {
  readonly url: string;
  readonly body: string;
}

/** A chat model. Failures are chunks, never exceptions. */
export interface ChatModel {
  stream(request: ModelRequest, options: CallOptions): AsyncIterable<ModelChunk>;
  /** What `stream` would send, byte for byte, without sending it. */
  render(request: ModelRequest): Promise<RenderedRequest>;
}

/** A call of a tool that runs here, its arguments parsed and as its schema wants them. */
export interface ToolRequest {
  readonly tool: ServerTool;
  /** As the model knows it. */
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** Names the call once and for all: whoever is called may refuse a second one of it. */
  readonly execution: ExecutionId;
  /** A person allowed this call. */
  readonly allowed: boolean;
}

/** Something that came beside the output, held by reference: `content` is any JSON value. */
export interface ToolArtifact {
  readonly type: string;
  readonly content: unknown;
}

/** `output` is what the model reads, of a failure too; it is cut where it is recorded. */
export interface ToolOutcome {
  readonly output: string;
  /** Null: it succeeded. */
  readonly failure: ToolFailure | null;
  readonly artifacts?: readonly ToolArtifact[];
  /** Whoever made it has bounded it, and says how to read on: it is recorded as it is. */
  readonly whole?: true;
  /** The positions that a look-up's output quotes. */
  readonly read?: readonly number[];
}

/** Runs a tenant's tools. Failures are outcomes, never exceptions; an abort ends the call soon. */
export interface ToolRunner {
  /** Whether its registration wants a person to allow each call, as it is now. May throw when the registration is out of reach. */
  needsApproval(tool: ServerTool): Promise<boolean>;
  run(request: ToolRequest, options: { readonly signal: AbortSignal }): Promise<ToolOutcome>;
}

/** Looks a model up for the session's tenant. Null: the tenant has no such model. May throw when the registry is out of reach. */
export interface ModelDirectory {
  resolve(model: string): Promise<ModelSpec | null>;
}

/** A wake-up, not a payload: the object is asked for the plan at the moment of work. */
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

/** The read model of sessions. Writing the same batch twice, or an older one late, changes nothing. */
export interface Projection {
  write(batch: ProjectionBatch): Promise<void>;
  /** Removes every row of the session but its tombstone and, in the same transaction, writes what stays of its ledger. */
  erase(input: {
    readonly tenant: TenantId;
    readonly session: SessionId;
    readonly at: number;
    /** As the tenant's object keeps it; absent: what is written stays. */
    readonly usage?: readonly ErasedUsage[];
  }): Promise<{ readonly rows: number }>;
}

/** The ledger of a tenant's erased sessions. Throws while the tenant's object is out of reach. */
export interface UsageArchive {
  /** Takes over what the session's calls come to and returns what is kept of it; nothing given: only that. Repeating it changes nothing. */
  keep(session: SessionId, usage: readonly ErasedUsage[]): Promise<readonly ErasedUsage[]>;
}

/** Structured logging. Fields never hold content, prompts or credentials. */
export interface Log {
  info(event: string, fields?: Readonly<Record<string, unknown>>): void;
  warn(event: string, fields?: Readonly<Record<string, unknown>>): void;
  error(event: string, fields?: Readonly<Record<string, unknown>>): void;
}

export interface Ids {
  readonly newId: NewId;
}
