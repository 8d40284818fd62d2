/** Asks the platform for one act, and says what became of it. It never throws. */
import { toErrorName } from "../../../lib/error-name";
import type { ActOutcome, OutboundAct } from "../channel";
import type { ChatHost, ChatRoom } from "../chat-ports";

/** `unsupported`: the platform has no such act. */
export type Delivered = ActOutcome | { readonly kind: "unsupported" };

export async function deliver({ deps }: ChatHost, { adapter, channel }: ChatRoom, act: OutboundAct): Promise<Delivered> {
  const request = (() => {
    try {
      return adapter.build(act, channel.credentials);
    } catch (error) {
      return { fault: toErrorName(error) };
    }
  })();
  if (request === null) return { kind: "unsupported" };
  if ("fault" in request) return { kind: "refused", reason: request.fault };
  try {
    const answer = await deps.send(request);
    if (answer.kind === "not_sent") return { kind: "failed", reason: answer.reason };
    return adapter.read(act, answer.kind === "answered" ? answer.response : null);
  } catch (error) {
    return { kind: "unknown", reason: toErrorName(error) };
  }
}
