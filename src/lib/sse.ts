/** Server-sent events, as the HTML standard has them. `json` must hold no line break, which JSON never does. */
export const formatSse = (event: { readonly offset: number; readonly type: string; readonly json: string }): string =>
  `id: ${event.offset}\nevent: ${event.type}\ndata: ${event.json}\n\n`;

export const formatComment = (text: string): string => `: ${text}\n\n`;
