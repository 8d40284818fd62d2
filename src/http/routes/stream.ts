/**
 * The live stream, and the log as pages or live. A client that disconnects stops nothing. Both resume by offset, and end
 * when their key becomes invalid.
 */
import { type OpenAPIHono, z } from "@hono/zod-openapi";
import { eventView } from "../../contract/event";
import { streamFrame } from "../../contract/frame";
import { listView } from "../../contract/page";
import type { HttpDeps, HttpEnv } from "../deps";
import { resumeHeaders, sendEndlessEvents } from "../event-stream";
import { eventExample, frameExample } from "../examples/conversation";
import { onePage } from "../examples/shared";
import { acceptsEventStream } from "../negotiate";
import { sendProblem } from "../problem";
import { eventStream, jsonOrEvents, tenantRoute } from "../routing";
import { counter, pageQuery, toList } from "../schemas/page";
import { sessionPath } from "../schemas/paths";
import { sessionClient } from "../session-calls";

const tag = "events";

/** The credential was read before the query is validated. The parameter is declared so that it is not refused as unknown. */
const streamToken = z
  .string()
  .optional()
  .openapi({ description: "An access token, in place of the header Authorization, which EventSource cannot send" });

const stream = tenantRoute({
  method: "get",
  path: "/v1/sessions/{session_id}/stream",
  tag,
  scope: "sessions:read",
  opensTo: "session",
  operationId: "streamSession",
  summary: "Read the live stream",
  description:
    "Sends the frames of the session as server-sent events as they are produced. A client that reconnects with `Last-Event-ID` or `after` misses nothing. A client that disconnects stops nothing.",
  request: {
    params: sessionPath,
    headers: resumeHeaders,
    query: z.strictObject({
      after: counter.optional().openapi({ description: "The last offset received. Default: the start of the running turn" }),
      token: streamToken,
    }),
  },
  responses: {
    200: {
      description:
        "Server-sent events: the name of each is the frame's `type`, its id the offset to resume from. Comments are an idle stream's beginning and its heartbeats. It ends within a minute of its key's or access token's end",
      content: eventStream(streamFrame, frameExample),
    },
  },
});

const events = tenantRoute({
  method: "get",
  path: "/v1/sessions/{session_id}/events",
  tag,
  scope: "sessions:read",
  opensTo: "session",
  operationId: "listEvents",
  summary: "Read the log, or follow it",
  description:
    "Reads a page of the session's events. With `Accept: text/event-stream`, sends the events as they are appended; the id of each is its `seq`. Events hold ids, sizes and numbers, and no content.",
  request: { params: sessionPath, headers: resumeHeaders, query: pageQuery.extend({ token: streamToken }) },
  responses: {
    200: jsonOrEvents("A page in order of seq, or the log from `after` on, until the session or the credential ends", {
      schema: listView(eventView),
      example: onePage(eventExample),
      events: eventStream(eventView, eventExample),
    }),
  },
});

export function registerStreams(app: OpenAPIHono<HttpEnv>, deps: HttpDeps): void {
  app.openapi(stream, async (c) => {
    const after = c.req.valid("header")["Last-Event-ID"] ?? c.req.valid("query").after ?? null;
    const session = c.req.valid("param").session_id;
    const calls = sessionClient(deps, c, session);
    const opened = await calls.repeatable((api, caller) => api.stream(caller, { after, turn: null }));
    return opened.ok ? await sendEndlessEvents(c, deps, { session, stream: opened.value }) : sendProblem(c, opened.error);
  });

  app.openapi(events, async (c) => {
    const { limit, order, after: asked } = c.req.valid("query");
    const session = c.req.valid("param").session_id;
    const calls = sessionClient(deps, c, session);
    if (acceptsEventStream(c.req.header("accept"))) {
      const after = c.req.valid("header")["Last-Event-ID"] ?? asked ?? null;
      const opened = await calls.repeatable((api, caller) => api.stream(caller, { after, turn: null, of: "events" }));
      return opened.ok ? await sendEndlessEvents(c, deps, { session, stream: opened.value }) : sendProblem(c, opened.error);
    }
    const page = await calls.repeatable((api, caller) => api.events(caller, { after: asked ?? null, limit, order }));
    return page.ok
      ? c.json(
          toList(page.value, (event) => event.seq),
          200,
        )
      : sendProblem(c, page.error);
  });
}
