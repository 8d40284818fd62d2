/** What Discord refuses of a message: https://docs.discord.com/developers/resources/message#create-message and /reference#error-messages */
import { z } from "zod";

const CONTENT = 2_000;
const SUPPRESS_EMBEDS = 4;

/** Discord counts code points. */
const text = (least: number, most: number) =>
  z
    .string()
    .refine((given) => given.isWellFormed(), "This is not a text.")
    .refine(
      (given) => Array.from(given).length >= least && Array.from(given).length <= most,
      least === 0 ? `Must be ${most} or fewer in length.` : `Must be between ${least} and ${most} in length.`,
    );

const button = z.strictObject({
  type: z.literal(2),
  style: z.int().min(1).max(4),
  label: text(1, 80),
  custom_id: text(1, 100),
  disabled: z.boolean().optional(),
});
const row = z.strictObject({ type: z.literal(1), components: z.array(button).min(1).max(5) });
const components = z
  .array(row)
  .max(5)
  .refine((rows) => {
    const ids = rows.flatMap((each) => each.components.map(({ custom_id }) => custom_id));
    return new Set(ids).size === ids.length;
  }, "Component custom id cannot be duplicated");
export type DiscordRow = z.infer<typeof row>;

const message = z.object({
  content: text(0, CONTENT),
  components: components.default([]),
  flags: z.literal(SUPPRESS_EMBEDS).optional(),
  allowed_mentions: z.object({ parse: z.array(z.enum(["roles", "users", "everyone"])) }).optional(),
  nonce: z.union([z.int(), z.string().max(25)]).optional(),
  enforce_nonce: z.boolean().optional(),
});
export type CheckedContent = z.infer<typeof message>;

export interface DiscordError {
  readonly code: number;
  readonly message: string;
  readonly errors?: object;
}

export type CheckedMessage = { readonly ok: true; readonly value: CheckedContent } | { readonly ok: false; readonly error: DiscordError };

export function checkMessage(body: unknown): CheckedMessage {
  const parsed = message.safeParse(body);
  if (!parsed.success) return { ok: false, error: { code: 50_035, message: "Invalid Form Body", errors: toErrors(parsed.error) } };
  // Discord removes blank space around the content before it looks.
  const content = parsed.data.content.trim();
  if (content === "") return { ok: false, error: { code: 50_006, message: "Cannot send an empty message" } };
  return { ok: true, value: { ...parsed.data, content } };
}

/** The errors of a field are in the tree of the body, under `_errors`. */
function toErrors({ issues }: z.ZodError): object {
  const [issue] = issues;
  const leaf = { _errors: [{ code: "BASE_TYPE_BAD_LENGTH", message: issue?.message ?? "" }] };
  return (issue?.path ?? []).reduceRight<object>((inner, key) => ({ [String(key)]: inner }), leaf);
}
