/**
 * Which generation settings a provider can express, and for which of its models. The table follows what the providers' packages
 * send and what the providers' references say; `test/contract/generation.test.ts` holds both together. A setting that is absent
 * from a provider's rules can be expressed by all of its models.
 */
import { type Effort, GENERATION_FIELDS, type Generation, type GenerationField } from "./generation";
import { type ClaudeModel, readClaudeModel, readGeminiModel, readOpenAiModel } from "./model-families";
import type { ModelCapabilities, Provider } from "./model-input";
import { type AllQuirks, findQuirks, type Quirks } from "./model-quirks";

interface GenerationModel {
  readonly provider: Provider;
  readonly upstream_id: string;
  readonly capabilities?: ModelCapabilities;
  /** Absent: the provider's own address. */
  readonly base_url?: string | null;
  readonly quirks?: Quirks;
}

/** `detail`: why the model cannot express the setting, in words for the client that set it. */
interface GenerationFault {
  readonly setting: GenerationField;
  readonly detail: string;
}

interface Asked {
  readonly model: GenerationModel;
  readonly generation: Generation;
}

/** What is wrong with the setting, or null. */
type Rule<F extends GenerationField> = (value: NonNullable<Generation[F]>, asked: Asked) => string | null;
type Rules = { readonly [F in GenerationField]?: Rule<F> };

/** The smallest cap that OpenAI's Responses API takes. */
const LEAST_RESPONSES_TOKENS = 16;
const NO_SEED = "the provider has no seed";
const NO_STOP = "the provider has no stop sequences";
const ONE_CALL = "the provider cannot be held to one call in a reply";

export const isForcedChoice = (choice: NonNullable<Generation["tool_choice"]>): boolean => choice !== "auto" && choice !== "none";
const refuseOther = (efforts: readonly Effort[], effort: Effort): string | null =>
  efforts.includes(effort) ? null : `the model takes ${efforts.length > 0 ? efforts.join(", ") : "no effort"}`;
const isThinking = ({ reasoning }: Generation): boolean => reasoning !== undefined && reasoning.effort !== "none";

/** OpenAI's models that think take no sampling, unless their thinking is turned off and they allow that. */
function refuseOpenAiSampling({ model, generation }: Asked): string | null {
  const { thinks, samples } = readOpenAiModel(model);
  if (!thinks) return null;
  if (!samples) return "the model thinks, and takes no sampling";
  return generation.reasoning?.effort === "none" ? null : "the model takes it only with reasoning.effort none";
}

const readQuirks = ({ base_url = null, ...model }: GenerationModel): AllQuirks => findQuirks({ ...model, base_url });

const openAiRules: Rules = {
  temperature: (_, asked) => refuseOpenAiSampling(asked),
  top_p: (_, asked) => refuseOpenAiSampling(asked),
  reasoning({ effort }, { model }) {
    const { thinks, efforts } = readOpenAiModel(model);
    return thinks ? refuseOther(efforts, effort) : "the model is not known to think";
  },
};

function refuseClaudeSampling(family: ClaudeModel, generation: Generation): string | null {
  if (!family.samples) return "the model takes no sampling";
  return isThinking(generation) ? "the model takes it only with reasoning.effort none" : null;
}

const anthropicRules: Rules = {
  temperature: (value, { model, generation }) =>
    value > 1 ? "the provider takes at most 1" : refuseClaudeSampling(readClaudeModel(model.upstream_id), generation),
  top_p: (_, { model, generation }) =>
    generation.temperature === undefined
      ? refuseClaudeSampling(readClaudeModel(model.upstream_id), generation)
      : "the provider takes temperature or top_p, not both",
  stop: (texts) => (texts.some((text) => text.trim() === "") ? "the provider takes no stop sequence of white space" : null),
  seed: () => NO_SEED,
  tool_choice(choice, { model, generation }) {
    const { forces, thinking } = readClaudeModel(model.upstream_id);
    if (!isForcedChoice(choice)) return null;
    if (!forces) return "the model cannot be made to call a tool";
    return thinking === "budget" && isThinking(generation) ? "the model cannot be made to call a tool while it thinks" : null;
  },
  response_format(format, { model }) {
    if (format.type === "json") return "the provider takes JSON only with a schema";
    return format.type === "json_schema" && !readClaudeModel(model.upstream_id).schemas ? "the model takes no schema" : null;
  },
  reasoning({ effort }, { model }) {
    const { thinking, rests } = readClaudeModel(model.upstream_id);
    if (effort === "none") return rests ? null : "the model's thinking cannot be turned off";
    return thinking === "adaptive" && effort === "minimal" ? "the model takes low, medium, high" : null;
  },
};

const googleRules: Rules = {
  parallel_tool_calls: (isAllowed) => (isAllowed ? null : ONE_CALL),
  response_format: ({ type }, { model }) =>
    type === "json" && readGeminiModel(model.upstream_id).thinking !== "level" ? "the model takes JSON only with a schema" : null,
  reasoning: ({ effort }, { model }) => refuseOther(readGeminiModel(model.upstream_id).efforts, effort),
};

const workersAiRules: Rules = {
  stop: () => NO_STOP,
  parallel_tool_calls: (isAllowed) => (isAllowed ? null : ONE_CALL),
  response_format: (format) => (format.type === "json_schema" && format.strict ? "the provider does not enforce a schema" : null),
  reasoning: ({ effort }) => refuseOther(["none", "low", "medium", "high"], effort),
};

const rules: Readonly<Record<Provider, Rules>> = {
  // A stand-in that draws nothing at random, so temperature, top_p and seed hold by themselves.
  embedded: {},
  openai: {
    ...openAiRules,
    max_output_tokens: (tokens) => (tokens < LEAST_RESPONSES_TOKENS ? `the provider takes at least ${LEAST_RESPONSES_TOKENS}` : null),
    stop: () => `${NO_STOP} in its Responses API`,
    seed: () => `${NO_SEED} in its Responses API`,
  },
  "openai-chat": {
    ...openAiRules,
    stop: (_, { model }) => (readOpenAiModel(model).thinks ? "the model thinks, and takes no stop sequences" : null),
  },
  // What an endpoint at any address can do is unknown: everything is sent, and the endpoint judges.
  "openai-compatible": {
    tool_choice: (choice, { model }) =>
      isForcedChoice(choice) && !readQuirks(model).tool_choice ? "the endpoint takes no tool_choice" : null,
    parallel_tool_calls: (_, { model }) => (readQuirks(model).parallel_tool_calls ? null : "the endpoint takes no parallel_tool_calls"),
  },
  anthropic: anthropicRules,
  google: googleRules,
  "workers-ai": workersAiRules,
};

/** The registry's word about the model, which holds for every provider. */
function refuseByCapability(setting: GenerationField, { model, generation }: Asked): string | null {
  const { capabilities } = model;
  if (setting === "reasoning" && isThinking(generation) && capabilities?.reasoning === false) return "the model does not think";
  const choice = generation.tool_choice;
  if (setting === "tool_choice" && choice && isForcedChoice(choice) && capabilities?.tools === false) return "the model calls no tools";
  return null;
}

/** A model that does not think is not told to stop thinking: some providers refuse even that. */
function isUnthinking({ model, generation }: Asked): boolean {
  if (generation.reasoning?.effort !== "none") return false;
  const isOpenAi = model.provider === "openai" || model.provider === "openai-chat";
  return model.capabilities?.reasoning === false || (isOpenAi && !readOpenAiModel(model).thinks);
}

function refuse<F extends GenerationField>(setting: F, asked: Asked): string | null {
  const value = asked.generation[setting];
  if (value === undefined || value === null) return null;
  if (setting === "reasoning" && isUnthinking(asked)) return null;
  const rule: Rule<F> | undefined = rules[asked.model.provider][setting];
  return refuseByCapability(setting, asked) ?? rule?.(value, asked) ?? null;
}

/** Every setting that the model cannot express, in the order of the fields. */
export const listGenerationFaults = (generation: Generation, model: GenerationModel): readonly GenerationFault[] =>
  GENERATION_FIELDS.flatMap((setting) => {
    const detail = refuse(setting, { model, generation });
    return detail === null ? [] : [{ setting, detail }];
  });

/** Without these settings the reply is another thing than what was asked for. */
const SHAPES_RESULT: ReadonlySet<GenerationField> = new Set(["response_format", "tool_choice"]);

/** Whether the model cannot express a setting that shapes the result, and so must not be asked in place of another one. */
export const isBarred = (generation: Generation, model: GenerationModel): boolean =>
  listGenerationFaults(generation, model).some(({ setting }) => SHAPES_RESULT.has(setting));

interface Fitting {
  readonly model: GenerationModel;
  /** The names of the tools that the request offers. */
  readonly tools: readonly string[];
  /** The model continues after results of calls that it made in this turn. */
  readonly continues: boolean;
}

interface FittedGeneration {
  readonly generation: Generation;
  /** Settings that this model cannot express, or that name a tool that is not offered. */
  readonly leftOut: readonly GenerationField[];
}

/**
 * The settings that one request states. The cap of the reply is not among them, because it travels by itself. A forced call is
 * forced once: the model would otherwise call tools until the turn's last round.
 */
export function fitGeneration({ max_output_tokens: _, ...asked }: Generation, { model, tools, continues }: Fitting): FittedGeneration {
  const faults = new Set(listGenerationFaults(asked, model).map(({ setting }) => setting));
  const choice = asked.tool_choice;
  if (choice && isForcedChoice(choice) && !isOffered(choice, tools)) faults.add("tool_choice");
  const isDone = choice !== undefined && isForcedChoice(choice) && continues;
  const idle = new Set<string>([
    ...(isDone || tools.length === 0 || !readQuirks(model).tool_choice ? ["tool_choice"] : []),
    ...(isUnthinking({ model, generation: asked }) ? ["reasoning"] : []),
  ]);
  const stated = Object.entries(asked).filter(([field]) => !faults.has(field as GenerationField) && !idle.has(field));
  const leftOut = GENERATION_FIELDS.filter((field) => faults.has(field) && !(field === "tool_choice" && isDone));
  return { generation: Object.fromEntries(stated), leftOut };
}

export const isOffered = (choice: NonNullable<Generation["tool_choice"]>, tools: readonly string[]): boolean =>
  typeof choice === "string" ? tools.length > 0 : tools.includes(choice.name);
