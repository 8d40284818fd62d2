/** Refuses a request by its URL and its headers, before a credential or a body is read. */
import type { MiddlewareHandler } from "hono";
import type { HttpEnv } from "./deps";
import { type HeadersFault, MAX_HEADER_CHARS, MAX_HEADERS, MAX_URL } from "./limit-problems";
import { sendProblem } from "./problem";

interface HeaderSums extends HeadersFault {
  readonly characters: number;
}

const measureHeader = (name: string, value: string): number => name.length + value.length;

function sumHeaders(headers: Headers): HeaderSums {
  let [count, characters, longest, most] = [0, 0, "", 0];
  for (const [name, value] of headers) {
    const size = measureHeader(name, value);
    count += 1;
    characters += size;
    if (size > most) [longest, most] = [name, size];
  }
  return { count, characters, longest };
}

/** The URL without scheme, host and port, which the client does not choose. */
const measureUrl = (url: string): number => url.length - new URL(url).origin.length;

export function limitRequests(): MiddlewareHandler<HttpEnv> {
  return async (c, next) => {
    // The origin of a URL that is short enough with it need not be found.
    if (c.req.url.length > MAX_URL && measureUrl(c.req.url) > MAX_URL) return sendProblem(c, { code: "url_too_long", limit: MAX_URL });
    const { count, characters, longest } = sumHeaders(c.req.raw.headers);
    if (count > MAX_HEADERS || characters > MAX_HEADER_CHARS) return sendProblem(c, { code: "headers_too_large", count, longest });
    return await next();
  };
}
