/** Faults in the shape of a request that a provider would refuse: a call without its result, or a result without its call. */
import type { BuiltView, ViewMessage } from "../../../src/context/view";

const listCalls = ({ parts }: ViewMessage): string[] => parts.flatMap((part) => (part.type === "tool_call" ? [part.call_id] : []));
const listResults = ({ parts }: ViewMessage): string[] => parts.flatMap((part) => (part.type === "tool_result" ? [part.call_id] : []));

/** The first fault, in words. Null when there is none. Call ids may repeat in a session, but never among open calls. */
export function findMalformed({ messages }: BuiltView): string | null {
  let open: string[] = [];
  for (const [index, message] of messages.entries()) {
    if (message.role === "tool") {
      for (const id of listResults(message)) {
        if (!open.includes(id)) return `message ${index}: a result for ${id}, which was not called`;
        open.splice(open.indexOf(id), 1);
      }
      continue;
    }
    if (open.length > 0) return `message ${index}: ${open.join(", ")} has no result`;
    if (message.parts.length === 0) return `message ${index}: empty`;
    open = listCalls(message);
  }
  return open.length > 0 ? `the end: ${open.join(", ")} has no result` : null;
}
