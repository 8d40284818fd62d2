/** What Meta refuses of a message: https://developers.facebook.com/documentation/business-messaging/whatsapp/reference */
import { z } from "zod";

const title = (most: number) => z.string().min(1).max(most);
const body = (most: number) => z.strictObject({ text: z.string().min(1).max(most) });
const isUnique = (texts: readonly string[]): boolean => new Set(texts).size === texts.length;

const buttons = z.strictObject({
  type: z.literal("button"),
  body: body(1_024),
  action: z.strictObject({
    buttons: z
      .array(z.strictObject({ type: z.literal("reply"), reply: z.strictObject({ id: z.string().min(1).max(256), title: title(20) }) }))
      .min(1)
      .max(3)
      .refine((all) => isUnique(all.map(({ reply }) => reply.title)), "duplicate titles")
      .refine((all) => isUnique(all.map(({ reply }) => reply.id)), "duplicate ids"),
  }),
});
const row = z.strictObject({ id: z.string().min(1).max(200), title: title(24), description: z.string().max(72).optional() });
const list = z.strictObject({
  type: z.literal("list"),
  body: body(4_096),
  action: z.strictObject({
    button: title(20),
    sections: z
      .array(z.strictObject({ title: z.string().max(24).optional(), rows: z.array(row).min(1).max(10) }))
      .min(1)
      .max(10)
      .refine((all) => isUnique(all.flatMap(({ rows }) => rows.map(({ id }) => id))), "duplicate ids"),
  }),
});

const addressed = {
  messaging_product: z.literal("whatsapp"),
  recipient_type: z.literal("individual").optional(),
  to: z
    .string()
    .regex(/^\+?\d{1,32}$/)
    .optional(),
  recipient: z.string().optional(),
};
const text = z.strictObject({
  ...addressed,
  type: z.literal("text"),
  text: z.strictObject({ preview_url: z.boolean().optional(), body: z.string().min(1).max(4_096) }),
});
const interactive = z.strictObject({
  ...addressed,
  type: z.literal("interactive"),
  interactive: z.discriminatedUnion("type", [buttons, list]),
});

export const whatsappMessage = z
  .discriminatedUnion("type", [text, interactive])
  .refine(({ to, recipient }) => (to ?? recipient) !== undefined, "no recipient");
export type WhatsAppMessage = z.infer<typeof whatsappMessage>;

export const whatsappRead = z.strictObject({
  messaging_product: z.literal("whatsapp"),
  status: z.literal("read"),
  message_id: z.string().min(1),
  typing_indicator: z.strictObject({ type: z.literal("text") }).optional(),
});
