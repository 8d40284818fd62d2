/** A session's policy as settings store it: the choice as text, and its instructions for summaries as a body. */
import { joinPolicy, type PolicyChoice, splitPolicy, toPolicy } from "../../context/policy-choice";
import type { SessionSettings } from "../../domain/events";
import type { TextRef } from "../../domain/message";
import type { Ids } from "../ports";
import type { BodyText, SessionContent } from "../session-ports";
import { buildTextBody } from "./build-items";

type TextReader = Pick<SessionContent, "readText">;

interface BuiltPolicy {
  readonly policy: string;
  /** Null when the choice has no instructions. */
  readonly instructions: TextRef | null;
  readonly bodies: readonly BodyText[];
}

export function buildPolicy(choice: PolicyChoice, ids: Ids): BuiltPolicy {
  const { text, instructions } = splitPolicy(choice);
  const { ref, bodies } = buildTextBody(instructions, ids);
  return { policy: text, instructions: ref, bodies };
}

interface StoredPolicy {
  readonly policy: string;
  readonly instructions: TextRef | null;
}

/** A stored policy with its instructions, as the client wrote it. */
export const readPolicy = ({ policy, instructions }: StoredPolicy, content: TextReader): PolicyChoice =>
  joinPolicy({ text: policy, instructions: instructions && content.readText(instructions.body) });

/** The policy of a session. */
export const readSessionPolicy = ({ policy, policy_instructions = null }: SessionSettings, content: TextReader): PolicyChoice =>
  readPolicy({ policy, instructions: policy_instructions }, content);

/** What a session's policy comes to, with the instructions that apply: the session's own take precedence. */
export function readEffectivePolicy(settings: SessionSettings, content: TextReader): ReturnType<typeof toPolicy> {
  const policy = toPolicy(settings.policy);
  const ref = settings.summary_instructions ?? settings.policy_instructions ?? null;
  return ref ? { ...policy, summary: { ...policy.summary, instructions: content.readText(ref.body) } } : policy;
}
