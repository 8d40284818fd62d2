import { z } from "@hono/zod-openapi";
import type { ModelSpec } from "../../app/ports";
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
  readonly knownWindow: (upstreamId: string) => number | null;
}

export function toOverride(input: z.infer<typeof modelInput>, { id, knownWindow }: ModelNaming): ModelOverride {
  const upstream_id = input.upstream_id ?? id;
  return {
    provider: input.provider,
    upstream_id,
    base_url: input.base_url ?? null,
    context_window: input.context_window === undefined ? knownWindow(upstream_id) : input.context_window,
    max_output: input.max_output,
  };
}

export const modelView = documents<ModelSpec>()(
  z
    .object({
      id: z.string(),
      provider: z.enum(["embedded", "openai-compatible"]),
      upstream_id: z.string(),
      base_url: z.string().nullable().openapi({ description: "Null too for the deployment's own models" }),
      context_window: z.int().nullable(),
      max_output: z.int(),
      source: z.enum(["deployment", "tenant"]),
    })
    .openapi("Model"),
);

/** Where the deployment's own models are is its own business. */
export function toModelView(model: ModelSpec): ModelSpec {
  return model.source === "deployment" ? { ...model, base_url: null } : model;
}
