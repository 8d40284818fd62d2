import { z } from "@hono/zod-openapi";
import { type ModelSpec, PROVIDERS } from "../../app/ports";
import type { ModelOverride } from "../../app/tenant-api";
import { documents } from "./documents";

const MIN_WINDOW = 1024;

export const modelName = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._:/@-]{0,127}$/, "1 to 128 letters, digits and . _ : / @ -, a letter or digit first")
  .openapi({ example: "embedded" });

export const modelInput = z
  .strictObject({
    provider: z.enum(["embedded", "openai-compatible"]),
    upstream_id: z.string().min(1).max(256).optional().openapi({ description: "The provider's name for it; by default the id" }),
    base_url: z.string().max(2048).nullable().optional(),
    context_window: z
      .int()
      .min(MIN_WINDOW)
      .nullable()
      .optional()
      .openapi({ description: "Tokens; null: unknown, and nothing is ever compacted; by default what is known of the model's name" }),
    max_output: z.int().min(1).openapi({ description: "Tokens of one reply, at most" }),
  })
  .superRefine(({ provider, base_url }, context) => {
    const isRemote = provider === "openai-compatible";
    if (isRemote === Boolean(base_url)) return;
    context.addIssue({ code: "custom", path: ["base_url"], message: isRemote ? "needed for this provider" : "not used by this provider" });
  })
  .openapi("PutModel");

export interface ModelNaming {
  readonly id: string;
  readonly knownWindow: (model: Pick<ModelOverride, "provider" | "upstream_id">) => number | null;
}

export function toOverride(input: z.infer<typeof modelInput>, { id, knownWindow }: ModelNaming): ModelOverride {
  const named = { provider: input.provider, upstream_id: input.upstream_id ?? id };
  return {
    ...named,
    base_url: input.base_url ?? null,
    context_window: input.context_window === undefined ? knownWindow(named) : input.context_window,
    max_output: input.max_output,
  };
}

export interface ModelView extends ModelSpec {
  readonly warnings: readonly string[];
}

const UNKNOWN_WINDOW =
  "context_window is unknown: a conversation with this model is compacted only under a policy that assumes one (unknown_window)";

export const modelView = documents<ModelView>()(
  z
    .object({
      id: z.string(),
      provider: z.enum(PROVIDERS),
      upstream_id: z.string(),
      base_url: z.string().nullable().openapi({ description: "Null too for the deployment's own models" }),
      context_window: z.int().nullable(),
      max_output: z.int(),
      source: z.enum(["deployment", "tenant"]),
      warnings: z.array(z.string()).readonly().openapi({ description: "What this model will not do as it is" }),
    })
    .openapi("Model"),
);

/** Where the deployment's own models are is its own business. */
export function toModelView(model: ModelSpec): ModelView {
  const warnings = model.context_window === null ? [UNKNOWN_WINDOW] : [];
  return { ...model, ...(model.source === "deployment" && { base_url: null }), warnings };
}
