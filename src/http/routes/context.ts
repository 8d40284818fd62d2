/** Shows what the model sees next, what it saw, and how two requests differ. */
import { type OpenAPIHono, z } from "@hono/zod-openapi";
import type { RequestRef } from "../../app/past-api";
import { anyContext, contextDiff, contextReport } from "../../contract/context";
import { id } from "../../contract/ids";
import { idPattern, type TurnId } from "../../domain/ids";
import type { HttpDeps, HttpEnv } from "../deps";
import { contextDiffExample, contextExample } from "../examples/view";
import { sendProblem } from "../problem";
import { json, jsonBody, tenantRoute } from "../routing";
import { sessionPath } from "../schemas/paths";
import { sessionClient } from "../session-calls";
import { ofSessionModel } from "../session-model";

const contextInput = z
  .strictObject({ content: z.string().refine((text) => text.trim() !== "", "must not be empty") })
  .openapi("NextMessage");

const tag = "context";
const scope = "sessions:read";
const path = "/v1/sessions/{session_id}/context";

const callNumber = z
  .string()
  .regex(/^[1-9]\d{0,8}$/, "an integer from 1")
  .transform(Number)
  .optional()
  .openapi({ type: "integer", minimum: 1 });

const context = tenantRoute({
  method: "get",
  path,
  tag,
  scope,
  operationId: "getContext",
  summary: "Show a request to the model",
  description:
    "Shows the exact next request, or with `turn` the exact request of a past turn, byte for byte, and the tokens of its parts. Nothing is sent or stored.",
  refuses: [
    "turn_not_found",
    "request_not_found",
    "request_unknown",
    "cannot_fit",
    "context_too_large",
    "model_gone",
    "models_unavailable",
  ],
  request: {
    params: sessionPath,
    query: z
      .strictObject({
        content: z
          .string()
          .refine((text) => text.trim() !== "", "must not be empty")
          .optional()
          .openapi({ description: "Include this text as the next user message. URLs are often logged: use POST for private text" }),
        at: id("trn")
          .optional()
          .openapi({ description: "A past turn: its request is rebuilt from the log and checked against its stored digest" }),
        call: callNumber.openapi({
          description: "The number of the turn's model call, from 1. Default: the last call that sent a request",
        }),
      })
      .refine(({ content, at }) => content === undefined || at === undefined, { path: ["content"], error: "must not be combined with at" })
      .refine(({ call, at }) => call === undefined || at !== undefined, { path: ["call"], error: "requires at" }),
  },
  responses: {
    200: json(
      "The request and the tokens of its parts. A request that is too large for one response is refused with 413",
      anyContext,
      contextExample,
    ),
  },
});

const contextIfSaid = tenantRoute({
  method: "post",
  path,
  tag,
  scope,
  operationId: "previewContext",
  summary: "Show the request that a message would cause",
  description:
    "Shows the exact next request with this user message added. Nothing is sent or stored. The message is in the body, so that it does not appear in logs of URLs.",
  refuses: ["cannot_fit", "context_too_large", "model_gone", "models_unavailable"],
  request: { params: sessionPath, body: jsonBody(contextInput, { content: "What is the weather in Lisbon?" }) },
  responses: {
    200: json(
      "The request and the tokens of its parts. A request that is too large for one response is refused with 413",
      contextReport,
      contextExample,
    ),
  },
});

const NOW = "now";
type End = TurnId | typeof NOW;
const end = z
  .custom<End>(
    (value) => typeof value === "string" && (value === NOW || idPattern("trn").test(value)),
    "must be now or have the form trn_…",
  )
  .openapi({ type: "string", description: "The id of a turn, or `now` for the next request", example: NOW });
const endCall = callNumber.openapi({
  description: "The number of that turn's model call, from 1. Default: the last call that sent a request",
});

const diff = tenantRoute({
  method: "get",
  path: `${path}/diff`,
  tag,
  scope,
  operationId: "compareContexts",
  summary: "Compare two requests to the model",
  description: "Shows what left the model's view between two requests, what came into it, and what is shown differently, without content.",
  refuses: ["turn_not_found", "request_not_found", "model_gone", "models_unavailable"],
  request: {
    params: sessionPath,
    query: z
      .strictObject({ from: end, to: end, from_call: endCall, to_call: endCall })
      .refine(({ from, from_call }) => from !== NOW || from_call === undefined, { path: ["from_call"], error: "requires the id of a turn" })
      .refine(({ to, to_call }) => to !== NOW || to_call === undefined, { path: ["to_call"], error: "requires the id of a turn" }),
  },
  responses: { 200: json("The differences in messages, summaries and settings, without content", contextDiff, contextDiffExample) },
});

const toRef = (turn: End, call: number | undefined): RequestRef => ({ turn: turn === NOW ? null : turn, call: call ?? null });

export function registerContext(app: OpenAPIHono<HttpEnv>, deps: HttpDeps): void {
  app.openapi(context, async (c) => {
    const { content, at, call = null } = c.req.valid("query");
    const calls = sessionClient(deps, c, c.req.valid("param").session_id);
    const parts = content === undefined ? null : [{ type: "text" as const, text: content }];
    const report = at
      ? await calls.repeatable((api, caller) => api.contextAt(caller, { turn: at, call }))
      : await calls.repeatable((api, caller) => api.context(caller, { content: parts }));
    return report.ok ? c.json(report.value, 200) : sendProblem(c, ofSessionModel(report.error));
  });

  app.openapi(contextIfSaid, async (c) => {
    const { content } = c.req.valid("json");
    const calls = sessionClient(deps, c, c.req.valid("param").session_id);
    const report = await calls.repeatable((api, caller) => api.context(caller, { content: [{ type: "text", text: content }] }));
    return report.ok ? c.json(report.value, 200) : sendProblem(c, ofSessionModel(report.error));
  });

  app.openapi(diff, async (c) => {
    const { from, to, from_call, to_call } = c.req.valid("query");
    const refs = { from: toRef(from, from_call), to: toRef(to, to_call) };
    const compared = await sessionClient(deps, c, c.req.valid("param").session_id).repeatable((api, caller) =>
      api.contextDiff(caller, refs),
    );
    return compared.ok ? c.json(compared.value, 200) : sendProblem(c, ofSessionModel(compared.error));
  });
}
