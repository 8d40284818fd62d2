/** What may be asked about retention: of a tenant's object, and by it of its sessions. */
import type { DueActView, RetentionSetting, RetentionView } from "../contract/retention";
import type { SessionDescription } from "../contract/session";
import type { SessionId } from "../domain/ids";
import type { Act } from "./audit-chain";
import type { Condition } from "./conditions";
import type { Judgement } from "./retention";
import type { Caller, Outcome } from "./session-api";
import type { TenantOutcome } from "./tenant-api";

interface PreviewInput {
  /** Null: the tenant's own. */
  readonly setting: RetentionSetting | null;
  /** The last session that was looked at. Null: from the first on. */
  readonly after: SessionId | null;
  /** How many sessions to look at. */
  readonly limit: number;
}

export interface PreviewPage {
  readonly at: number;
  readonly candidates: number;
  readonly looked_at: number;
  readonly data: readonly DueActView[];
  /** Where the next page begins. Null: every candidate was looked at. */
  readonly next: SessionId | null;
}

/** `usage_before`: usage from before this time would go. Null: none is due. */
type TenantPreview = PreviewPage & { readonly usage_before: number | null };

export interface TenantRetentionApi {
  readRetention(): Promise<TenantOutcome<RetentionView>>;
  /** Replaces the setting. When this has answered, the earlier setting removes nothing more. */
  putRetention(act: Act, setting: RetentionSetting, condition?: Condition): Promise<TenantOutcome<RetentionView>>;
  /** What would be removed now. Nothing changes. */
  previewRetention(input: PreviewInput): Promise<TenantOutcome<TenantPreview>>;
}

export interface RetainedSession extends Judgement {
  readonly used_at: number;
}

export interface RetentionApi {
  /** Puts the session away, or brings it back. A repetition changes nothing. */
  archive(caller: Caller): Promise<Outcome<SessionDescription>>;
  unarchive(caller: Caller): Promise<Outcome<SessionDescription>>;
  /** Judges the session by the setting as it is now. Unless `isDryRun`, does what is due in the same step. */
  retain(caller: Caller, input: { readonly setting: RetentionSetting; readonly isDryRun: boolean }): Promise<Outcome<RetainedSession>>;
}
