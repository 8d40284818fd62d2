/** Sets, shows and removes the schedules of a session (docs/api/schedules.md). */
import { type OpenAPIHono, z } from "@hono/zod-openapi";
import { toScheduleEtag } from "../../app/schedule-api";
import { listView } from "../../contract/page";
import { scheduleView } from "../../contract/schedule";
import { conditionHeaders, toCondition } from "../conditions";
import type { HttpDeps, HttpEnv } from "../deps";
import { scheduleExample } from "../examples/conversation";
import { onePage } from "../examples/shared";
import { sendProblem } from "../problem";
import { json, jsonBody, taggedJson, tenantRoute } from "../routing";
import { namedPageQuery, takeListPage } from "../schemas/page";
import { sessionPath } from "../schemas/paths";
import { readScheduleTime, scheduleInput, scheduleName } from "../schemas/schedule";
import { actingClient, sessionClient } from "../session-calls";
import { faultOfName } from "../validation";

const tag = "schedules";
const path = "/v1/sessions/{session_id}/schedules/{schedule_name}";
const params = sessionPath.extend({
  schedule_name: z.string().openapi({ example: "briefing", description: "The name that the client gave to the schedule" }),
});

const list = tenantRoute({
  method: "get",
  path: "/v1/sessions/{session_id}/schedules",
  tag,
  scope: "sessions:read",
  operationId: "listSchedules",
  summary: "List schedules",
  description: "Lists the session's schedules, with those that will not run again.",
  request: { params: sessionPath, query: namedPageQuery() },
  responses: { 200: json("A page, in order of name", listView(scheduleView), onePage(scheduleExample)) },
});

const get = tenantRoute({
  method: "get",
  path,
  tag,
  scope: "sessions:read",
  operationId: "getSchedule",
  summary: "Read a schedule",
  description: "Shows when the schedule runs next, and how its last run went.",
  refuses: ["schedule_not_found"],
  request: { params },
  responses: { 200: taggedJson("The schedule", scheduleView, scheduleExample) },
});

const put = tenantRoute({
  method: "put",
  path,
  tag,
  scope: "sessions:write",
  operationId: "putSchedule",
  summary: "Set a schedule",
  description:
    "Submits the message as the user's at the time `at`, or whenever `cron` matches, and starts a turn. Times that pass while the service is away run once. A run that cannot start its turn is tried again for 15 minutes, and then skipped.",
  refuses: ["schedule_limit", "fork_unfinished"],
  request: {
    params,
    headers: conditionHeaders,
    body: jsonBody(scheduleInput, { cron: "0 9 * * 1-5", timezone: "Europe/Lisbon", message: "Give me today's briefing." }),
  },
  responses: { 200: taggedJson("The schedule", scheduleView, scheduleExample) },
});

const remove = tenantRoute({
  method: "delete",
  path,
  tag,
  scope: "sessions:write",
  operationId: "deleteSchedule",
  summary: "Remove a schedule",
  description: "A turn that it has started goes on.",
  refuses: ["schedule_not_found", "fork_unfinished"],
  request: { params, headers: conditionHeaders },
  responses: { 204: { description: "Removed" } },
});

function registerReads(app: OpenAPIHono<HttpEnv>, deps: HttpDeps): void {
  app.openapi(list, async (c) => {
    const found = await sessionClient(deps, c, c.req.valid("param").session_id).repeatable((api, caller) => api.schedules(caller));
    return found.ok
      ? c.json(
          takeListPage(found.value, c.req.valid("query"), ({ name }) => name),
          200,
        )
      : sendProblem(c, found.error);
  });

  app.openapi(get, async (c) => {
    const { session_id, schedule_name } = c.req.valid("param");
    const found = await sessionClient(deps, c, session_id).repeatable((api, caller) => api.schedules(caller));
    if (!found.ok) return sendProblem(c, found.error);
    const schedule = found.value.find(({ name }) => name === schedule_name);
    return schedule
      ? c.json(schedule, 200, { ETag: toScheduleEtag(schedule) })
      : sendProblem(c, { code: "schedule_not_found", schedule: schedule_name });
  });
}

export function registerSchedules(app: OpenAPIHono<HttpEnv>, deps: HttpDeps): void {
  registerReads(app, deps);

  app.openapi(put, async (c) => {
    const { session_id, schedule_name: name } = c.req.valid("param");
    const body = c.req.valid("json");
    const time = readScheduleTime(body, deps.now());
    const errors = [...faultOfName("schedule_name", scheduleName.safeParse(name)), ...("field" in time ? [time] : [])];
    if ("field" in time || errors.length > 0) return sendProblem(c, { code: "invalid_request", errors });
    const condition = toCondition(c.req.valid("header"));
    const calls = actingClient(deps, c, session_id);
    const set = await (condition ? calls.once : calls.repeatable)((api, caller) =>
      api.setSchedule(caller, { name, time, message: body.message }, condition),
    );
    return set.ok ? c.json(set.value, 200, { ETag: toScheduleEtag(set.value) }) : sendProblem(c, set.error);
  });

  app.openapi(remove, async (c) => {
    const { session_id, schedule_name } = c.req.valid("param");
    const condition = toCondition(c.req.valid("header"));
    const removed = await actingClient(deps, c, session_id).once((api, caller) => api.removeSchedule(caller, schedule_name, condition));
    return removed.ok ? c.body(null, 204) : sendProblem(c, removed.error);
  });
}
