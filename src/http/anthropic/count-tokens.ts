/**
 * `POST /v1/messages/count_tokens`: how large the next request would be. With a session it is what the model would read of the conversation,
 * and what the request adds; without one it is all that the request holds. Nothing is sent or stored.
 */
import type { Context } from "hono";
import { estimateTokens } from "../../context/tokens";
import { parseId } from "../../domain/ids";
import { err, ok, type Result } from "../../lib/result";
import type { HttpDeps, HttpEnv } from "../deps";
import { type HttpError, sendProblem } from "../problem";
import { type SessionCalls, sessionClient } from "../session-calls";
import { ofSessionModel } from "../session-model";
import { sortCopy } from "../surface/start-from-copy";
import { weighAdded, weighRest } from "../surface/weigh-input";
import { toSystem } from "./asked-with";
import { toToolUseId } from "./read-blocks";
import { type CopiedBlocks, findFaults, parseRequest, type ReadCopy, readCopy } from "./read-copy";
import { type CountBody, countBody } from "./request-body";
import { listNew } from "./session";

/** What the request names in place of the session's. Null: the session's holds. */
function weighNamed({ system }: CountBody, { tools }: ReadCopy) {
  const prompt = toSystem(system);
  return {
    system: prompt === null ? null : estimateTokens(prompt),
    tools: tools === null ? null : estimateTokens(JSON.stringify(tools)),
  };
}

export async function countTokens(c: Context<HttpEnv>, deps: HttpDeps, header: string): Promise<Response> {
  const parsed = parseRequest(countBody, await c.req.json());
  if (!parsed.ok) return sendProblem(c, parsed.error);
  const body = parsed.value;
  const read = readCopy(body);
  if (!read.ok) return sendProblem(c, read.error);
  const given = c.req.header(header);
  const named = weighNamed(body, read.value);
  const own = (named.system ?? 0) + (named.tools ?? 0);
  if (given === undefined) {
    const fault = findFaults(read.value.messages);
    return fault ? sendProblem(c, fault) : c.json({ input_tokens: Math.ceil(own + weighAll(read.value.messages)) });
  }
  const session = parseId("ses", given);
  if (!session) return sendProblem(c, { code: "session_not_found" });
  const weight = await weighInSession(sessionClient(deps, c, session), { messages: read.value.messages, named });
  return weight.ok ? c.json({ input_tokens: Math.ceil(own + weight.value) }) : sendProblem(c, weight.error);
}

const weighAll = (messages: readonly CopiedBlocks[]): number => messages.reduce((sum, message) => sum + weighMessage(message), 0);

const weighMessage = ({ role, text, parts, calls }: CopiedBlocks): number =>
  weighAdded(role === "tool" ? { parts: [], calls: [], results: [{ output: text }] } : { parts, calls, results: [] });

interface Counted {
  readonly messages: readonly CopiedBlocks[];
  readonly named: ReturnType<typeof weighNamed>;
}

/** The session's next request, and what is new in the client's copy. */
async function weighInSession(calls: SessionCalls, { messages, named }: Counted): Promise<Result<number, HttpError>> {
  const [report, copy] = await Promise.all([
    calls.repeatable((api, caller) => api.context(caller, { content: null })),
    sortCopy({ calls, request: { messages }, words: { toCallName: toToolUseId } }),
  ]);
  if (!report.ok) return err(ofSessionModel(report.error));
  if (!copy.ok) return copy;
  const fresh = listNew(messages, copy.value.sorted);
  const fault = findFaults(fresh);
  return fault ? err(fault) : ok(weighAll(fresh) + weighRest(report.value, named));
}
