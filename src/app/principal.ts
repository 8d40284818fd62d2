/** Who asks: the holder of a key, or of an access token that a key made. */
import type { ClientSettings } from "../contract/client-settings";
import type { LimitSet } from "../contract/limits";
import type { AccessTokenId, KeyId, SessionId, TenantId } from "../domain/ids";
import type { Restriction } from "../domain/key-restriction";
import type { Scope } from "../domain/scopes";

/** The identity and rights of a valid key. */
export interface Principal {
  readonly tenant: TenantId;
  readonly key: KeyId;
  readonly scopes: readonly Scope[];
  /** Epoch milliseconds. Null: never. */
  readonly expires_at: number | null;
  /** The limits of the tenant, with the look-up of a key. Absent: none, or the caller has an access token. */
  readonly limits?: LimitSet;
  /** Present when the caller has an access token that `key` made. Absent: the caller has the key itself. */
  readonly access_token?: AccessToken;
  /** What the key is held to beside its scopes. Absent: nothing, or the caller has an access token. */
  readonly restriction?: Restriction;
  /** How the key's clients of other vendors' APIs are served. Absent: by the defaults, or the caller has an access token. */
  readonly clients?: ClientSettings;
  /** The tenant is suspended: the credential opens nothing. Absent: it is served. */
  readonly suspended?: true;
}

/** The holder of an access token. The expiry is a whole second. */
export type TokenHolder = Principal & { readonly access_token: AccessToken; readonly expires_at: number };
/** The holder of a token that was verified. `issued_at`: a whole second, in epoch milliseconds. */
export type VerifiedHolder = TokenHolder & { readonly issued_at: number };

interface AccessToken {
  readonly id: AccessTokenId;
  readonly reach: AccessReach;
}

/** What an access token opens: one session, or the sessions of one end user. */
export type AccessReach =
  | { readonly session: SessionId; readonly end_user?: undefined }
  | { readonly session?: undefined; readonly end_user: string };
