/** What an epoch change is drafted from: the session as it is now, and what is known of the work. */
import type { DraftInput } from "../../context/epoch-draft";
import type { SessionPorts } from "../session-ports";

export interface Drafting extends Pick<DraftInput, "limits" | "trigger"> {
  readonly summarizer?: DraftInput["summarizer"];
  readonly economy?: DraftInput["economy"];
}

export type DraftPorts = Pick<SessionPorts, "writer" | "content" | "clock" | "ids">;

export const draftInput = (by: Drafting, { writer, content, clock, ids }: DraftPorts): DraftInput => ({
  state: writer.state,
  limits: by.limits,
  trigger: by.trigger,
  newOverlay: () => ids.newId("ovl"),
  read: (item) => content.readParts(item),
  summarizer: by.summarizer ?? null,
  economy: by.economy ?? null,
  now: clock(),
});
