/**
 * The lowest reasoning effort that one of OpenAI's models accepts, by the model's name. Chat completions need it because
 * their package does not know it, and the Responses package does not export its table.
 * https://platform.openai.com/docs/guides/reasoning
 */

/** Null when the model does not think, or when it is unknown whether its effort can be set. */
export function leastEffort(upstreamId: string): "none" | "minimal" | "low" | null {
  if (/^o\d/.test(upstreamId)) return "low";
  const version = /^gpt-(\d+)(?:\.(\d+))?(?:-(.*))?$/.exec(upstreamId);
  if (!version) return null;
  const major = Number(version[1]);
  const minor = Number(version[2] ?? 0);
  const variant = version[3] ?? "";
  if (major < 5 || /^(?:chat|pro|codex)/.test(variant)) return null;
  if (major > 5) return /^(?:luna|sol|terra)/.test(variant) && !(minor === 1 && variant.startsWith("sol")) ? "none" : "low";
  return minor === 0 ? "minimal" : "none";
}
