/** `POST /v1/chat/completions`: a turn of the session that `X-Session-Id` names, in the words of OpenAI's chat completions. */
import { type OpenAPIHono, z } from "@hono/zod-openapi";
import type { Context } from "hono";
import type { SubmitInput } from "../../app/session-api";
import type { TurnReport } from "../../contract/turn";
import { parseId } from "../../domain/ids";
import { requireScope } from "../auth";
import { readBody } from "../body";
import type { HttpDeps, HttpEnv } from "../deps";
import { sendEvents } from "../event-stream";
import { idempotencyHeaders, readIdempotency } from "../idempotency";
import { sendProblem } from "../problem";
import { sessionClient } from "../session-calls";
import { ofNamedModel } from "../session-model";
import { toLegName } from "../surface/ids";
import { translateStream } from "../surface/translate-stream";
import { toFieldErrors } from "../validation";
import { type CompletionHead, createChatTranslator, toChatFinish, toChatUsage } from "./chat-frames";

const SESSION_HEADER = "X-Session-Id";

const message = z.object({ role: z.literal("user"), content: z.string().min(1) });
const chatInput = z.strictObject({
  model: z.string().min(1),
  messages: z.array(message).min(1),
  stream: z.boolean().nullish(),
  stream_options: z.object({ include_usage: z.boolean().optional() }).nullish(),
});
type ChatInput = z.infer<typeof chatInput>;

function toSubmit({ model, messages }: ChatInput, idempotency: SubmitInput["idempotency"]): SubmitInput {
  const text = messages.at(-1)?.content ?? "";
  return { role: "user", parts: [{ type: "text", text }], run: true, onBusy: "queue", tools: null, model, idempotency };
}

function toCompletion(head: CompletionHead, turn: TurnReport) {
  const said = { role: "assistant", content: turn.output_text, refusal: null };
  return {
    ...head,
    object: "chat.completion",
    choices: [{ index: 0, message: said, logprobs: null, finish_reason: toChatFinish(turn.finish) }],
    usage: toChatUsage(turn.usage),
  };
}

export function registerChatCompletions(app: OpenAPIHono<HttpEnv>, deps: HttpDeps): void {
  app.post("/v1/chat/completions", requireScope("sessions:write", null), readBody, (c) => complete(c, deps));
}

async function complete(c: Context<HttpEnv>, deps: HttpDeps): Promise<Response> {
  const parsed = chatInput.safeParse(await c.req.json());
  if (!parsed.success) return sendProblem(c, { code: "invalid_request", errors: toFieldErrors(parsed.error.issues) });
  const key = idempotencyHeaders.safeParse({ "Idempotency-Key": c.req.header("idempotency-key") });
  if (!key.success) return sendProblem(c, { code: "invalid_request", errors: toFieldErrors(key.error.issues) });
  const session = parseId("ses", c.req.header(SESSION_HEADER) ?? "");
  if (!session) return sendProblem(c, { code: "session_not_found" });
  const body = parsed.data;
  const idempotency = await readIdempotency(c, key.data["Idempotency-Key"]);
  const calls = sessionClient(deps, c, session);
  const send = idempotency ? calls.repeatable : calls.once;
  const accepted = await send((api, caller) => api.submit(caller, toSubmit(body, idempotency)));
  if (!accepted.ok) return sendProblem(c, ofNamedModel(accepted.error, body));
  const { turn_id: turn, cursor } = accepted.value;
  if (turn === null) throw new TypeError("a user's message that runs has a turn");
  c.header(SESSION_HEADER, session);
  const head = { id: toLegName("chatcmpl-", { session, turn, leg: 1 }), created: Math.floor(deps.now() / 1_000), model: body.model };
  if (body.stream) {
    const stream = await calls.repeatable((api, caller) => api.stream(caller, { after: cursor, turn }));
    if (!stream.ok) return sendProblem(c, stream.error);
    const options = { includeUsage: body.stream_options?.include_usage ?? false };
    return sendEvents(c, translateStream(stream.value, createChatTranslator(head, options)));
  }
  const report = await calls.repeatable((api, caller) => api.waitForTurn(caller, turn));
  return report.ok ? c.json(toCompletion(head, report.value)) : sendProblem(c, report.error);
}
