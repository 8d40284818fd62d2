import { z } from "zod";

/** What a tenant enters of a Meta app with WhatsApp. docs/channels/whatsapp.md says where Meta shows each value. */
export const whatsappCredentials = z.strictObject({
  app_secret: z.string().min(1).max(256),
  /** Goes into a header, so it has none but visible ASCII characters. */
  access_token: z.string().regex(/^[!-~]{1,1024}$/, "This is an access token, without spaces."),
  /** Chosen by the tenant, and entered at Meta too. */
  verify_token: z.string().min(8).max(256),
  phone_number_id: z.string().regex(/^\d{1,32}$/, "This is the id of the phone number, in digits. It is not the number itself."),
  /** Meta's Graph API with its version. Another address is for tests. */
  api_url: z.url({ protocol: /^https?$/ }).default("https://graph.facebook.com/v25.0"),
});
export type WhatsAppCredentials = z.infer<typeof whatsappCredentials>;
