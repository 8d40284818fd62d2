/**
 * What is known of model families by their providers' names: whether a model thinks, what efforts it takes, and what it refuses.
 * A name that is not known is read as the newest of its family, as the providers' packages read it.
 */
import type { Effort } from "./generation";
import type { ModelCapabilities } from "./model-input";

interface OpenAiModel {
  readonly thinks: boolean;
  readonly efforts: readonly Effort[];
  /** Takes temperature and top_p while its thinking is turned off. */
  readonly samples: boolean;
}

const FROM_LOW: readonly Effort[] = ["low", "medium", "high"];
const FROM_MINIMAL: readonly Effort[] = ["minimal", ...FROM_LOW];
const FROM_NONE: readonly Effort[] = ["none", ...FROM_LOW];

/** Models of generation 6 whose thinking can be turned off. */
const RESTS = /^gpt-6(?:\.1-terra|-luna|-sol)$/;

/** https://platform.openai.com/docs/guides/reasoning. A model of another name thinks if the registry says so. */
export function readOpenAiModel(model: { readonly upstream_id: string; readonly capabilities?: ModelCapabilities }): OpenAiModel {
  const { upstream_id: id, capabilities } = model;
  if (/^o\d/.test(id)) return { thinks: true, efforts: FROM_LOW, samples: false };
  const version = /^gpt-(\d+)(?:\.(\d+))?(?:-(.+))?$/.exec(id);
  const [major, minor, variant = ""] = version ? [Number(version[1]), Number(version[2] ?? 0), version[3]] : [0, 0];
  const isChat = version?.[2] === undefined && variant.startsWith("chat");
  if (major < 5 || isChat) return { thinks: capabilities?.reasoning === true, efforts: FROM_MINIMAL, samples: false };
  if (major > 5) return RESTS.test(id) ? toRestful(FROM_NONE) : { thinks: true, efforts: FROM_LOW, samples: false };
  if (/^(?:pro|codex)/.test(variant)) return { thinks: true, efforts: FROM_LOW, samples: minor >= 1 };
  return minor === 0 ? { thinks: true, efforts: FROM_MINIMAL, samples: false } : toRestful(FROM_NONE);
}

const toRestful = (efforts: readonly Effort[]): OpenAiModel => ({ thinks: true, efforts, samples: true });

export interface ClaudeModel {
  /** Takes temperature and top_p. */
  readonly samples: boolean;
  /** How a request states how much the model may think: by an effort, or by a number of tokens. */
  readonly thinking: "adaptive" | "budget";
  /** Its thinking can be turned off. */
  readonly rests: boolean;
  /** A request can force the model to call a tool. */
  readonly forces: boolean;
  /** The provider accepts a JSON Schema for the reply. */
  readonly schemas: boolean;
}

const OLDER: ClaudeModel = { samples: true, thinking: "budget", rests: true, forces: true, schemas: false };
const CURRENT: ClaudeModel = { samples: false, thinking: "adaptive", rests: true, forces: true, schemas: true };

/** The first pattern that matches. https://docs.claude.com/en/docs/about-claude/models/overview */
const CLAUDES: readonly (readonly [pattern: RegExp, model: ClaudeModel])[] = [
  [/claude-(?:sonnet-5-5|opus-5-5|fable-5-[12])/, { ...CURRENT, rests: false, forces: false }],
  [/claude-fable-5/, { ...CURRENT, rests: false }],
  [/claude-(?:opus-4-[78]|opus-5|sonnet-5|haiku-5-5)/, CURRENT],
  [/claude-(?:sonnet|opus)-4-6/, { ...CURRENT, samples: true }],
  [/claude-(?:(?:sonnet|opus|haiku)-4-5|opus-4-1)/, { ...OLDER, schemas: true }],
  [/claude-(?:(?:sonnet|opus)-4(?:-|@)|instant(?:-|$)|v?2(?=$|[-.:])|3(?=$|[-.]))/, OLDER],
  [/claude-/, CURRENT],
];

/** A model that is no Claude, at an address that speaks Anthropic's format, is asked as the older models are. */
export const readClaudeModel = (id: string): ClaudeModel => CLAUDES.find(([pattern]) => pattern.test(id))?.[1] ?? OLDER;

interface GeminiModel {
  /** How a request states how much the model may think: by a level, or by a number of tokens. */
  readonly thinking: "level" | "budget";
  readonly efforts: readonly Effort[];
}

/** https://ai.google.dev/gemini-api/docs/thinking */
export function readGeminiModel(id: string): GeminiModel {
  const name = /(?:^|[/.])(gemini-[^/]*)$/i.exec(id)?.[1]?.toLowerCase() ?? "";
  if (name === "" || /^gemini-(?:[12](?:[.-]|$)|pro(?:-vision)?$|robotics-er-1\.5)/.test(name)) {
    const efforts: readonly Effort[] = name.includes("2.5-pro") ? FROM_MINIMAL : ["none", ...FROM_MINIMAL];
    return { thinking: "budget", efforts };
  }
  return { thinking: "level", efforts: startsAtLow(name) ? FROM_LOW : FROM_MINIMAL };
}

/** Pro models, and flash models from 3.7 on, always think a little more than the least. */
const startsAtLow = (name: string): boolean =>
  name === "gemini-flash-latest" ||
  /^gemini-(?:\d+(?:\.\d+)?-pro|4-hydrogen)(?:$|-)/.test(name) ||
  /^gemini-(?:3\.(?:[789]|\d\d)|[4-9]\.\d+)-flash(?:$|-(?!lite(?:-|$)))/.test(name);
