/**
 * The least that one of OpenAI's models can be told to think, by its name: for chat completions, where no package says it
 * (the Responses package keeps the same table to itself). https://platform.openai.com/docs/guides/reasoning
 */

/** Null: it does not think, or it is not known whether it can be told so. */
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
