/** Puts sessions away, and brings them back. */
import type { OpenAPIHono } from "@hono/zod-openapi";
import { sessionDescription } from "../../contract/session";
import type { HttpDeps, HttpEnv } from "../deps";
import { archivedExample, sessionExample } from "../examples/conversation";
import { sendProblem } from "../problem";
import { taggedJson, tenantRoute } from "../routing";
import { sessionPath } from "../schemas/paths";
import { actingClient } from "../session-calls";

const tag = "sessions";
const scope = "sessions:write";
const path = "/v1/sessions/{session_id}";

const archive = tenantRoute({
  method: "post",
  path: `${path}/archive`,
  tag,
  scope,
  operationId: "archiveSession",
  summary: "Archive a session",
  description:
    "Takes the session out of the default list. Nothing of it is removed: it can be read, searched, exported, forked and erased, and the next message or change brings it back. A session in use is refused: stop its turn first. Archiving is no use of the session, so `updated_at` stays. A repetition changes nothing.",
  refuses: ["turn_running", "fork_unfinished"],
  request: { params: sessionPath },
  responses: { 200: taggedJson("The session", sessionDescription, archivedExample) },
});

const unarchive = tenantRoute({
  method: "post",
  path: `${path}/unarchive`,
  tag,
  scope,
  operationId: "unarchiveSession",
  summary: "Bring an archived session back",
  description: "Brings the session back to the default list, as a message or a change does too. A repetition changes nothing.",
  refuses: ["fork_unfinished"],
  request: { params: sessionPath },
  responses: { 200: taggedJson("The session", sessionDescription, sessionExample) },
});

export function registerArchive(app: OpenAPIHono<HttpEnv>, deps: HttpDeps): void {
  app.openapi(archive, async (c) => {
    const calls = actingClient(deps, c, c.req.valid("param").session_id);
    const session = await calls.repeatable((api, caller) => api.archive(caller));
    return session.ok ? c.json(session.value, 200, { ETag: session.value.etag }) : sendProblem(c, session.error);
  });

  app.openapi(unarchive, async (c) => {
    const calls = actingClient(deps, c, c.req.valid("param").session_id);
    const session = await calls.repeatable((api, caller) => api.unarchive(caller));
    return session.ok ? c.json(session.value, 200, { ETag: session.value.etag }) : sendProblem(c, session.error);
  });
}
