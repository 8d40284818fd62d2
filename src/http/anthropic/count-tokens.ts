/**
 * `POST /v1/messages/count_tokens`: how large the next request would be. With a session it is what the model would read of the conversation,
 * and what the request adds; without one it is all that the request holds. Nothing is sent or stored.
 */
import type { Context } from "hono";
import { estimateTokens } from "../../context/tokens";
import { parseId } from "../../domain/ids";
import type { HttpDeps, HttpEnv } from "../deps";
import { sendProblem } from "../problem";
import { sessionClient } from "../session-calls";
import { ofSessionModel } from "../session-model";
import { weighAdded, weighRest } from "../surface/weigh-input";
import { toSystem } from "./asked-with";
import { type Added, findNew, parseRequest, readAdded } from "./read-request";
import { type CountBody, countBody } from "./request-body";

/** What the request names in place of the session's. Null: the session's holds. */
function weighNamed({ system }: CountBody, { tools }: Added) {
  const prompt = toSystem(system);
  return {
    system: prompt === null ? null : estimateTokens(prompt),
    tools: tools === null ? null : estimateTokens(JSON.stringify(tools)),
  };
}

export async function countTokens(c: Context<HttpEnv>, deps: HttpDeps, header: string): Promise<Response> {
  const parsed = parseRequest(countBody, await c.req.json());
  if (!parsed.ok) return sendProblem(c, parsed.error);
  const given = c.req.header(header);
  const session = parseId("ses", given ?? "");
  if (given !== undefined && !session) return sendProblem(c, { code: "session_not_found" });
  const body = parsed.value;
  const added = readAdded(body, session ? findNew(body.messages) : 0);
  if (!added.ok) return sendProblem(c, added.error);
  const named = weighNamed(body, added.value);
  const own = (named.system ?? 0) + (named.tools ?? 0) + added.value.messages.reduce((sum, message) => sum + weighAdded(message), 0);
  if (!session) return c.json({ input_tokens: Math.ceil(own) });
  const report = await sessionClient(deps, c, session).repeatable((api, caller) => api.context(caller, { content: null }));
  if (!report.ok) return sendProblem(c, ofSessionModel(report.error));
  return c.json({ input_tokens: Math.ceil(own + weighRest(report.value, named)) });
}
