/** The model to try, and its requirements before anything is started. */
import { Failure } from "../support/output.ts";

export const TRIED_PROVIDERS = ["openai", "openai-chat", "openai-compatible", "anthropic", "google", "embedded"] as const;
type Provider = (typeof TRIED_PROVIDERS)[number];

/** The deployment's own variables, which src/env.ts reads too. */
const KEY_OF: Readonly<Record<Provider, string | null>> = {
  openai: "OPENAI_API_KEY",
  "openai-chat": "OPENAI_API_KEY",
  "openai-compatible": "OPENAI_COMPATIBLE_API_KEY",
  anthropic: "ANTHROPIC_API_KEY",
  google: "GOOGLE_GENERATIVE_AI_API_KEY",
  embedded: null,
};

/** Thinking counts too, for any assumed window. */
const MAX_OUTPUT = 4_096;

export interface ModelChoice {
  /** `PROVIDER/MODEL`. A model's own name may contain slashes. */
  readonly model: string;
  readonly window: number;
  readonly base_url: string | null;
  /** The `npm run` command that messages name. Absent: `try`. */
  readonly command?: string;
}

export interface ChosenProvider {
  readonly provider: Provider;
  readonly upstream_id: string;
  readonly base_url: string | null;
  /** Null when the provider needs no key, or when this machine's own server was given none. */
  readonly key: { readonly name: string; readonly value: string } | null;
}

export interface TriedModel {
  /** The name that sessions use. */
  readonly id: string;
  /** The Worker's configuration: the model, and its key if it has one. */
  readonly variables: Readonly<Record<string, string>>;
}

export function chooseModel(choice: ModelChoice, environment: Readonly<Record<string, string | undefined>>): TriedModel {
  const { provider, upstream_id, base_url, key } = chooseProvider(choice, environment);
  const { model, window } = choice;
  const spec = { provider, upstream_id, base_url, context_window: window, max_output: Math.min(MAX_OUTPUT, window) };
  return { id: model, variables: { MODELS: JSON.stringify({ [model]: spec }), ...(key ? { [key.name]: key.value } : {}) } };
}

/**
 * Throws a `Failure` that explains what is missing and how to continue. `environment`: where keys are read from. No
 * message contains a key.
 */
export function chooseProvider(choice: ModelChoice, environment: Readonly<Record<string, string | undefined>>): ChosenProvider {
  const { model, base_url } = choice;
  const [named, upstream_id] = splitModel(model);
  const provider = TRIED_PROVIDERS.find((known) => known === named);
  if (!provider || upstream_id === "") {
    throw new Failure(
      `--model must be PROVIDER/MODEL, with one of the providers ${TRIED_PROVIDERS.join(", ")}; not ${JSON.stringify(model)}.`,
    );
  }
  if (provider === "openai-compatible" && base_url === null) {
    throw new Failure(
      "openai-compatible needs an address: --base-url https://…/v1 (chat completions are asked for at /chat/completions below it).",
    );
  }
  if (provider === "embedded" && base_url !== null)
    throw new Failure("embedded runs in the Worker and has no address: leave out --base-url.");
  return { provider, upstream_id, base_url, key: findKey({ ...choice, provider }, environment) };
}

function splitModel(model: string): [provider: string, upstream: string] {
  const slash = model.indexOf("/");
  return slash < 0 ? [model, ""] : [model.slice(0, slash), model.slice(slash + 1)];
}

/** A server on this machine usually needs no key. If one is set, it is used. */
function findKey(
  { provider, model, base_url, command = "try" }: ModelChoice & { readonly provider: Provider },
  environment: Readonly<Record<string, string | undefined>>,
): ChosenProvider["key"] {
  const name = KEY_OF[provider];
  if (name === null) return null;
  const value = environment[name]?.trim();
  if (value) return { name, value };
  if (provider === "openai-compatible" && base_url !== null && isLocal(base_url)) return null;
  throw new Failure(
    `${name} is missing: ${provider} cannot be asked without a key, and nothing was started.\n` +
      `Set it in the environment and run the command again:\n\n  ${name}=… npm run ${command} -- --model ${model}${base_url === null ? "" : ` --base-url ${base_url}`}\n\n` +
      `It is given to this run only. Without any key, --model embedded/embedded shows how ${command === "try" ? "a conversation" : "it"} goes.`,
  );
}

const isLocal = (url: string): boolean => ["localhost", "127.0.0.1", "[::1]"].includes(new URL(url).hostname);
