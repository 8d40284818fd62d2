/** What may be asked of a tenant's object about its channels: their settings and sealed secrets, who is paired, and their log. */
import type { ChannelLogView, ChannelSettings, ChannelView, PairedUserView } from "../contract/channel";
import type { Page } from "../contract/page";
import type { SessionId, TenantId, TurnId } from "../domain/ids";
import type { Act } from "./audit-chain";
import { type Condition, toEtag } from "./conditions";
import type { SealedCredential, TenantOutcome } from "./tenant-api";

export const MAX_CHANNELS = 32;
/** Beside those that the access list of the settings names. */
export const MAX_PAIRED_USERS = 1_000;
/** Codes of a channel that wait for their user. */
export const MAX_PAIRING_CODES = 50;
export const PAIRING_CODE_MS = 3_600_000;

/** A channel as its tenant's object shows it. The address of its webhooks is made where the deployment's pepper is. */
export type ChannelEntry = Omit<ChannelView, "webhook_path">;

/** The secrets of a channel's platform, sealed as one text. */
export interface ChannelSecrets {
  readonly names: readonly string[];
  readonly sealed: SealedCredential;
}

/** No credential of a tenant has a name with a slash, so that no seal fits both. */
const PLACE = "channels/";
export const toChannelPlace = (tenant: TenantId, channel: string) => ({ tenant, name: PLACE + channel });
/** The channel whose secrets have this place. Null: it is a credential's. */
export const readChannelPlace = (name: string): string | null => (name.startsWith(PLACE) ? name.slice(PLACE.length) : null);

export interface PutChannel {
  readonly name: string;
  readonly settings: ChannelSettings;
  /** Null: the stored ones stay. */
  readonly secrets: ChannelSecrets | null;
  readonly condition?: Condition | undefined;
}

/** A channel for those who serve it: its access list has the paired users, too. */
export interface SealedChannel {
  readonly settings: ChannelSettings;
  readonly sealed: SealedCredential;
}

/** `wrong`: no such code, or it was used, or its hour is over. `locked`: too many wrong ones. `full`: as many are paired as may be. */
export type Pairing = "paired" | "wrong" | "locked" | "full";
/** The code as the user sent it. May throw when the tenant's object is out of reach. */
export type PairUser = (asked: {
  readonly tenant: TenantId;
  readonly channel: string;
  readonly code: string;
  readonly user: string;
}) => Promise<Pairing>;

/** `id`: chosen by who notes it, the same when it is noted again. It holds ids and fixed words, never content. */
export interface ChannelLogEntry {
  readonly id: string;
  readonly at: number;
  readonly kind: ChannelLogView["kind"];
  readonly reason: string;
  readonly delivery?: string | null;
  readonly session?: SessionId | null;
  readonly turn?: TurnId | null;
  /** The platform's id of the person whom the entry is about. It is stored as a digest. Absent: not known. */
  readonly user?: string;
}

/** Occurrences that are only counted. A sender may cause any number of them. */
export interface ChannelCount {
  readonly kind: ChannelLogView["kind"];
  readonly reason: string;
  readonly at: number;
  readonly number: number;
}

export interface ChannelLogQuery {
  /** A `seq`. Null: the first page. */
  readonly after: number | null;
  readonly limit: number;
  readonly order: "asc" | "desc";
}

/** `seq`: the place in the log. */
export interface StoredChannelLog extends ChannelLogView {
  readonly seq: number;
}

export interface TenantChannelsApi {
  /** All of them, by name. */
  listChannels(): Promise<TenantOutcome<readonly ChannelEntry[]>>;
  getChannel(name: string): Promise<TenantOutcome<ChannelEntry>>;
  /** Replaces a channel of the same name. Chats that are under way go on with the new settings. */
  putChannel(act: Act, input: PutChannel): Promise<TenantOutcome<ChannelEntry>>;
  /** Its sessions stay. */
  deleteChannel(act: Act, name: string, condition?: Condition): Promise<TenantOutcome<null>>;
  /** For the code that serves the channel. Null: there is no such channel, or it has no secrets. */
  sealedChannel(name: string): Promise<SealedChannel | null>;

  /** `hash`: the keyed hash of the code, which itself is never stored. */
  addPairingCode(
    act: Act,
    input: { readonly channel: string; readonly hash: string },
  ): Promise<TenantOutcome<{ readonly expires_at: number }>>;
  /** `hashes`: the keyed hashes of what the user sent, one for each pepper that is accepted. */
  pairUser(input: { readonly channel: string; readonly hashes: readonly string[]; readonly user: string }): Promise<TenantOutcome<Pairing>>;
  /** All of them, by their ids. */
  listPairedUsers(channel: string): Promise<TenantOutcome<readonly PairedUserView[]>>;
  unpairUser(act: Act, input: { readonly channel: string; readonly user: string }): Promise<TenantOutcome<null>>;

  listChannelLog(channel: string, query: ChannelLogQuery): Promise<TenantOutcome<Page<StoredChannelLog>>>;
  /** It can be repeated: an entry whose id is there stays as it is. */
  noteChannelLog(channel: string, entries: readonly ChannelLogEntry[]): Promise<TenantOutcome<null>>;
  /** Adds to the hour's counts. A repetition counts twice. */
  countChannelEvents(channel: string, counts: readonly ChannelCount[]): Promise<TenantOutcome<null>>;
}

/** The etag of a channel as it is shown. Who is paired does not count. */
export const toChannelEtag = (entry: ChannelEntry): string => toEtag(entry);

/** Where a platform sends its webhooks. `tenant`: as the deployment signs it. */
export const toWebhookPath = (tenant: string, channel: string): string => `/webhooks/${tenant}/${channel}`;

/** Counts what a channel's webhooks were refused or ignored for. Returns at once. */
export type CountChannelEvent = (event: {
  readonly tenant: TenantId;
  readonly channel: string;
  readonly kind: ChannelLogView["kind"];
  readonly reason: string;
}) => void;
