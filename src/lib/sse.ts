/**
 * Formats server-sent events, as the HTML standard defines them. `json` must contain no line break, which `JSON.stringify` without
 * indentation ensures.
 */
export const formatSse = (event: { readonly offset: number; readonly type: string; readonly json: string }): string =>
  `id: ${event.offset}\nevent: ${event.type}\ndata: ${event.json}\n\n`;

export const formatComment = (text: string): string => `: ${text}\n\n`;
