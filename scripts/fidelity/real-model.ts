/** A real model in place of the embedded one, called over the network with the key of the environment. */
import { chooseProvider, type ModelChoice } from "../try/provider.ts";
import { embedded, type PlayedModel } from "./play.ts";

/** The reply then contains only the requested value, so nothing has to be extracted from it. */
const SYSTEM =
  "Keep replies to one sentence. When you are asked for something, answer with the value that holds now, as it was written, and nothing else. " +
  "What you do not see in the conversation you can look up, where memory_query is offered.";

/** A reply is short. A model that thinks needs more tokens, and a small window leaves no more room. */
const OUTPUT_SHARE = 4;

/** Throws a `Failure` that names the variable when there is no key. */
export function asked(choice: Omit<ModelChoice, "command">, environment: Readonly<Record<string, string | undefined>>): PlayedModel {
  const { provider, upstream_id, base_url, key } = chooseProvider({ ...choice, command: "fidelity" }, environment);
  const { window } = choice;
  if (provider === "embedded") return embedded(window);
  return {
    spec: {
      id: choice.model,
      provider,
      upstream_id,
      base_url,
      context_window: window,
      max_output: Math.min(4_096, Math.floor(window / OUTPUT_SHARE)),
      source: "deployment",
    },
    credentials: async () => key?.value ?? null,
    system: SYSTEM,
    pace: "real",
  };
}
