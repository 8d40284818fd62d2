/** How a session tells its tenant's webhooks what it has committed, and what an isolate knows of what they want. */
import type { SessionId } from "../domain/ids";
import type { Announcement } from "./to-announcements";

/** What the tenant's endpoints wanted when the tenant's object was asked. */
export interface KnownInterest {
  readonly types: readonly string[];
  /** Greater than every mark that was given before the question. */
  readonly asked: number;
}

export interface AnnouncementPort {
  /** A number that grows. An answer with a greater `asked` was given after what was marked. */
  mark(): number;
  /** What is known, if it is fresh. */
  peek(): KnownInterest | null;
  /** What is known, or is asked for. Throws when the tenant's object is out of reach. */
  lookUp(): Promise<KnownInterest>;
  /** Hands over in order. Repeating a call changes nothing. Throws when the tenant's object is out of reach. */
  hand(session: SessionId, announcements: readonly Announcement[]): Promise<void>;
}
