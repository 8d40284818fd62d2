/**
 * Mastra's message history (documentation: `lastMessages`, 10 by default): a turn begins with the newest ten stored
 * messages. Each is a user message, or everything that the assistant did in answer to one. Older messages are not
 * represented.
 */
import { exchanges, type Moment, type Show, type System } from "./system.ts";

const LAST_MESSAGES = 10;

/** The new message is added to them. */
const decide = ({ all, isFirst }: Moment): Show | null =>
  isFirst
    ? {
        kind: "show",
        isEpoch: false,
        messages: exchanges(all)
          .slice(-LAST_MESSAGES - 1)
          .flat(),
      }
    : null;

export const mastra: System = {
  name: "mastra",
  source: "Mastra documentation: message history",
  recovers: false,
  decide,
};
