/** The headers that bind browsers, for every answer. A route that needs others sets its own, and keeps them (docs/security.md). */
import type { HttpConfig } from "./deps";

/** A year. Without subdomains, because the deployment knows only its own name. */
const STRICT_TRANSPORT = "max-age=31536000";

const FOR_EVERY_ANSWER: Readonly<Record<string, string>> = {
  // An answer may hold a client's own text, and no browser may read it as another type.
  "x-content-type-options": "nosniff",
  // JSON and streams are no pages: they load nothing and stand in no frame.
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "referrer-policy": "no-referrer",
  // Requests by CORS are not affected, so pages of allowed origins read on. What loads without CORS (`<img>`, `<script>`) is refused.
  "cross-origin-resource-policy": "same-origin",
  "cache-control": "no-store",
};

/** `publicUrl`: only a deployment that is known to be reached over https asks browsers to keep to it. */
export const listSecurityHeaders = ({ publicUrl }: Pick<HttpConfig, "publicUrl">): Readonly<Record<string, string>> => ({
  ...FOR_EVERY_ANSWER,
  ...(publicUrl?.startsWith("https:") && { "strict-transport-security": STRICT_TRANSPORT }),
});

/** Adds those that the answer does not have. */
export function addMissing(to: Headers, headers: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(headers)) if (!to.has(name)) to.set(name, value);
}
