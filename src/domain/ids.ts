/**
 * Typed ids: `<prefix>_<ULID>`. The server generates all of them. An id from a provider or a client (for example a tool
 * call's `call_id`) is data: it may repeat, and never becomes a key.
 */
declare const brand: unique symbol;
type Branded<Name extends string> = string & { readonly [brand]: Name };

export type TenantId = Branded<"tenant">;
export type SessionId = Branded<"session">;
export type TurnId = Branded<"turn">;
export type ItemId = Branded<"item">;
export type ExecutionId = Branded<"execution">;
export type CompactionId = Branded<"compaction">;
export type OverlayId = Branded<"overlay">;
export type KeyId = Branded<"key">;
export type AdminKeyId = Branded<"admin key">;
export type AccessTokenId = Branded<"access token">;
export type FileId = Branded<"file">;
export type ErasureId = Branded<"erasure">;
export type ExportId = Branded<"export">;
export type ImportId = Branded<"import">;
export type WebhookEndpointId = Branded<"webhook endpoint">;
export type WebhookEventId = Branded<"webhook event">;
export type WebhookDeliveryId = Branded<"webhook delivery">;
/** The id of one content body of a session: an item's id, an overlay's id, or a `bod_` id of its own. */
export type BodyId = Branded<"body"> | ItemId | OverlayId;

export interface IdKinds {
  ten: TenantId;
  ses: SessionId;
  trn: TurnId;
  msg: ItemId;
  exe: ExecutionId;
  cmp: CompactionId;
  ovl: OverlayId;
  key: KeyId;
  adm: AdminKeyId;
  tok: AccessTokenId;
  fil: FileId;
  era: ErasureId;
  exp: ExportId;
  imp: ImportId;
  whk: WebhookEndpointId;
  evt: WebhookEventId;
  dlv: WebhookDeliveryId;
  bod: BodyId;
}

export type IdPrefix = keyof IdKinds;

/** Generates a fresh, sortable id. This is a port, because `domain` has no randomness and no clock. */
export type NewId = <P extends IdPrefix>(prefix: P) => IdKinds[P];

/** Crockford base32 of a ULID: 26 characters, the first at most 7. */
const ULID = "[0-7][0-9A-HJKMNP-TV-Z]{25}";
const patterns = new Map<IdPrefix, RegExp>();

/** The anchored pattern of an id with this prefix. The OpenAPI document shows the same pattern. */
export function idPattern(prefix: IdPrefix): RegExp {
  const known = patterns.get(prefix);
  if (known) return known;
  const pattern = new RegExp(`^${prefix}_${ULID}$`);
  patterns.set(prefix, pattern);
  return pattern;
}

/** The id if `text` has exactly the form of one, else null. */
export function parseId<P extends IdPrefix>(prefix: P, text: string): IdKinds[P] | null {
  return idPattern(prefix).test(text) ? (text as IdKinds[P]) : null;
}
