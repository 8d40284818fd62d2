import type { Event } from "./events";
import type { ItemMeta } from "./message";

/** The items that enter the conversation by an event. */
export function itemsOf(event: Event): readonly ItemMeta[] {
  switch (event.type) {
    case "MessagesAppended":
      return event.items;
    case "TurnStarted":
      return event.item ? [event.item] : [];
    case "AssistantReplied":
    case "ToolCalled":
    case "ToolResultRecorded":
      return [event.item];
    default:
      return [];
  }
}
