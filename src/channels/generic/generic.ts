/**
 * The adapter for a system of the tenant's own: it signs by Standard Webhooks or in GitHub's way, and takes replies at one address
 * (docs/channels/generic.md).
 */
import type { ChannelAdapter, ChannelTraits } from "../../app/channels/channel";
import type { Clock } from "../../app/ports";
import { type GenericCredentials, genericCredentials } from "./credentials";
import { parseGeneric } from "./parse";
import { buildReply, readReplyAnswer } from "./reply";
import { verifyGeneric } from "./verify";

/** In UTF-16 units. Receivers set none, so that this is a bound on one request. */
const MAX_TEXT = 32_000;

const traits: ChannelTraits = {
  fits: (rendered) => rendered.length <= MAX_TEXT,
  edits: null,
  typing: null,
  pace: { messages: 20, per_ms: 1_000 },
  // Standard Webhooks advises senders to repeat for days, and GitHub repeats by hand for three.
  redelivers_for_ms: 3 * 86_400_000,
  is_idempotent: true,
  max_buttons: 10,
};

export function createGenericAdapter(now: Clock): ChannelAdapter<GenericCredentials> {
  return {
    credentials: genericCredentials,
    traits,
    verify: verifyGeneric,
    parse: (request, credentials) => parseGeneric(request, credentials, now),
    render: (markdown) => ({ text: markdown, plain: markdown }),
    build: (act, credentials) => (act.type === "send" ? buildReply(act, credentials, now()) : null),
    read: (_, response) => readReplyAnswer(response),
    buildFileRequest: ({ ref }) => ({ method: "GET", url: ref, headers: {} }),
    readFile: ({ status, headers }) =>
      status === 200 ? { kind: "bytes", media_type: headers.get("content-type") } : { kind: "failed", reason: `status ${status}` },
  };
}
