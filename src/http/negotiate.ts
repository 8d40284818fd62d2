/** Reads what kind of answer the client asks for (RFC 9110 §12.5.1, RFC 7240 §4.1). */

interface Weighted {
  readonly name: string;
  /** From 0 to 1; 0 means not wanted. */
  readonly weight: number;
}

function parseRange(text: string): Weighted {
  const [name = "", ...parameters] = text.split(";").map((part) => part.trim().toLowerCase());
  const q = parameters.find((parameter) => parameter.startsWith("q="));
  const weight = q === undefined ? 1 : Number(q.slice(2));
  return { name, weight: Number.isFinite(weight) ? weight : 0 };
}

const parseList = (header: string | undefined): readonly Weighted[] => (header ?? "").split(",").map(parseRange);

/** True when the client accepts gzip (RFC 9110 §12.5.3). */
export function acceptsGzip(acceptEncoding: string | undefined): boolean {
  const codings = parseList(acceptEncoding);
  const named = codings.find(({ name }) => name === "gzip") ?? codings.find(({ name }) => name === "*");
  return (named?.weight ?? 0) > 0;
}

/** True when the client names the media type and does not prefer JSON. */
export function prefers(type: string, accept: string | undefined): boolean {
  const ranges = parseList(accept);
  const findWeight = (name: string): number => ranges.find((range) => range.name === name)?.weight ?? 0;
  const wanted = findWeight(type);
  return wanted > 0 && wanted >= findWeight("application/json");
}

/** True when the client names server-sent events and does not prefer JSON. */
export const acceptsEventStream = (accept: string | undefined): boolean => prefers("text/event-stream", accept);

/** True when the client names lines of JSON and does not prefer one JSON document. */
export const acceptsLines = (accept: string | undefined): boolean => prefers("application/x-ndjson", accept);

/** True for `Prefer: respond-async`: an acknowledgement is enough. */
export function prefersAsync(prefer: string | undefined): boolean {
  return (prefer ?? "").split(",").some((preference) => preference.split(";")[0]?.trim().toLowerCase() === "respond-async");
}
