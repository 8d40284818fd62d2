/** Reads the requests of past turns and the content of the record. */
import { z } from "zod";
import { type Connection, callApi } from "../support/api-client.ts";
import { Failure } from "../support/output.ts";
import { FACT, MESSAGES } from "./messages.ts";

const pastContext = z.object({
  total: z.object({ tokens: z.number() }),
  parts: z.array(z.object({ part: z.string() })),
  request: z.object({ body: z.string() }),
  digest: z.object({ recorded: z.string().nullable(), rebuilt: z.string(), matches: z.boolean().nullable() }),
});

export interface PastRequest {
  readonly tokens: number;
  readonly messages: number;
  readonly hasSummary: boolean;
  readonly holdsFact: boolean;
  readonly digest: string;
}

/**
 * The first request of a turn, as `GET …/context?at=TURN` rebuilds it. Throws a `Failure` when it differs from the
 * request that was sent.
 */
export async function readPastRequest(connection: Connection, session: string, turn: string): Promise<PastRequest> {
  const path = `/v1/sessions/${session}/context?at=${turn}&call=1`;
  const { total, parts, request, digest } = pastContext.parse(await callApi(connection, { method: "GET", path }));
  if (digest.matches !== true) throw new Failure(`The rebuilt request of turn ${turn} is not what was sent: ${JSON.stringify(digest)}`);
  return {
    tokens: total.tokens,
    messages: parts.filter(({ part }) => part === "message").length,
    hasSummary: parts.some(({ part }) => part === "summary"),
    holdsFact: request.body.includes(FACT),
    digest: digest.rebuilt,
  };
}

const page = z.object({
  data: z.array(z.object({ role: z.string(), content: z.array(z.object({ type: z.string(), text: z.string().optional() })) })),
  has_more: z.boolean(),
});

/** The number of the conversation's messages that the record contains word for word. */
export async function countKeptMessages(connection: Connection, session: string): Promise<number> {
  const { data, has_more } = page.parse(await callApi(connection, { method: "GET", path: `/v1/sessions/${session}/messages?limit=100` }));
  if (has_more) throw new Failure("The record has more messages than the demo expects.");
  const said = data.filter(({ role }) => role === "user").map(({ content }) => content.map(({ text }) => text ?? "").join(""));
  return said.filter((text, index) => text === MESSAGES[index]).length;
}
