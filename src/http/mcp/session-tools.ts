/** Tools that find, describe and create sessions. */
import { z } from "zod";
import { takeHead } from "../../context/tool-results";
import { id } from "../../contract/ids";
import type { SessionDescription, SessionSummary } from "../../contract/session";
import { ok } from "../../lib/result";
import { boundToEndUser, toCallersFinds, toCallersList, toCallersView } from "../access-limits";
import { readPrincipal } from "../auth";
import { createSession, putSession } from "../create-session";
import { reachReadModel } from "../read-model";
import { archivedQuery, createInput, toFilter } from "../schemas/session";
import { searchInput, toSearchInput } from "../schemas/session-search";
import { sessionClient } from "../session-calls";
import { toMoment, utcMoment } from "./shapes";
import { defineTool } from "./tool";

const MAX_LIST = 50;
const USUAL_LIST = 20;
/** UTF-16 units of the summaries that a description shows. */
const MAX_SUMMARY = 16_000;

const READS = { readOnlyHint: true } as const;
const CURSOR = z.string().nullable().describe("Give it as `after` for the next page. Null: there is no more");

const limit = z.int().min(1).max(MAX_LIST).default(USUAL_LIST).describe("The most sessions");
const after = z.string().min(1).max(512).optional().describe("next_cursor of the page before, with all else as it was");

const row = z.object({
  session_id: z.string(),
  title: z.string().nullable(),
  external_id: z.string().nullable(),
  end_user: z.string().nullable(),
  metadata: z.record(z.string(), z.string()),
  model: z.string(),
  message_count: z.int(),
  last_message_preview: z.string().nullable(),
  created_at: utcMoment,
  updated_at: utcMoment,
  archived_at: utcMoment.nullable(),
});

const toRow = ({ id: session_id, metadata, compacted: _, ...rest }: SessionSummary): z.infer<typeof row> => ({
  ...rest,
  session_id,
  metadata: { ...metadata },
  created_at: toMoment(rest.created_at),
  updated_at: toMoment(rest.updated_at),
  archived_at: rest.archived_at === null ? null : toMoment(rest.archived_at),
});

const listSessions = defineTool({
  name: "list_sessions",
  title: "List sessions",
  description: "Lists conversations, the most recently updated first. To find one by what was said in it, use search_sessions.",
  scope: "sessions:read",
  opensTo: "end_user",
  annotations: READS,
  input: z.strictObject({
    limit,
    after,
    archived: archivedQuery.default("false").describe("false: without archived conversations; true: only these; any: both"),
    end_user: createInput.shape.end_user.unwrap().unwrap().optional().describe("Only the conversations of this person"),
    external_id: createInput.shape.external_id
      .unwrap()
      .unwrap()
      .optional()
      .describe("Only the conversation with this id of the application"),
  }),
  output: z.object({ sessions: z.array(row), next_cursor: CURSOR }),
  async run({ limit: most, after: cursor = null, ...asked }, { c, deps }) {
    const bounded = boundToEndUser(c, asked);
    if (!bounded.ok) return bounded;
    const order = { orderBy: "updated_at", order: "desc" } as const;
    const input = { tenant: readPrincipal(c).tenant, filter: toFilter(bounded.value), ...order, limit: most, after: cursor };
    const reached = await reachReadModel(c, deps, () => deps.sessionList.listSessions(input));
    if (!reached.ok) return reached;
    if (!reached.value.ok) return reached.value;
    const { data, next_cursor } = toCallersList(c, reached.value.value);
    return ok({ sessions: data.map(toRow), next_cursor });
  },
});

const match = z.object({ message_id: z.string(), position: z.int(), role: z.string(), created_at: utcMoment, snippet: z.string() });

const searchSessions = defineTool({
  name: "search_sessions",
  title: "Search all sessions",
  description:
    "Finds conversations by words in their titles and messages, best first, with up to three messages of each. Other forms of a word are found too. To look something up inside one conversation, use memory_query.",
  scope: "sessions:read",
  opensTo: "end_user",
  annotations: READS,
  input: z.strictObject({
    query: searchInput.shape.query.describe("Words to look for"),
    archived: archivedQuery.default("any").describe("any: archived conversations too; false: without them; true: only these"),
    end_user: createInput.shape.end_user.unwrap().unwrap().optional().describe("Only the conversations of this person"),
    limit,
    after,
  }),
  output: z.object({
    found: z.array(z.object({ session: row, in_title: z.boolean(), matches: z.array(match) })),
    next_cursor: CURSOR,
  }),
  async run(asked, { c, deps }) {
    const bounded = boundToEndUser(c, asked);
    if (!bounded.ok) return bounded;
    const input = toSearchInput(readPrincipal(c).tenant, bounded.value);
    const reached = await reachReadModel(c, deps, () => deps.sessionSearch.searchSessions(input));
    if (!reached.ok) return reached;
    if (!reached.value.ok) return reached.value;
    const { data, next_cursor } = toCallersFinds(c, reached.value.value);
    const found = data.map(({ session, in_title, matches }) => ({
      session: toRow(session),
      in_title,
      matches: matches.map(({ id: message_id, created_at, ...rest }) => ({ ...rest, message_id, created_at: toMoment(created_at) })),
    }));
    return ok({ found, next_cursor });
  },
});

const description = z.object({
  session_id: z.string(),
  title: z.string().nullable(),
  external_id: z.string().nullable(),
  end_user: z.string().nullable(),
  metadata: z.record(z.string(), z.string()),
  model: z.string(),
  message_count: z.int(),
  branch: z.int().describe("The number of the branch that messages join"),
  branches: z.int(),
  context_tokens: z.number().describe("The size of the next request, in tokens"),
  context_window: z.int().nullable(),
  summary: z.string().nullable().describe("What stands in the model's view for the older messages. Null: nothing was summarised"),
  open_turn: z.object({ turn_id: z.string(), phase: z.string() }).nullable().describe("The turn that is under way"),
  queued_messages: z.int(),
  created_at: utcMoment,
  updated_at: utcMoment,
});

function toDescription(session: SessionDescription): z.infer<typeof description> {
  const { id: session_id, turn, compacted_summary: summary } = session;
  return {
    session_id,
    title: session.title,
    external_id: session.external_id,
    end_user: session.end_user,
    metadata: { ...session.metadata },
    model: session.model,
    message_count: session.message_count,
    branch: session.branch,
    branches: session.branches,
    context_tokens: session.current_context_tokens.tokens,
    context_window: session.context_window,
    summary: summary === null ? null : takeHead(summary, MAX_SUMMARY),
    open_turn: turn && { turn_id: turn.id, phase: turn.phase },
    queued_messages: session.queued.length,
    created_at: toMoment(session.created_at),
    updated_at: toMoment(session.updated_at),
  };
}

const getSession = defineTool({
  name: "get_session",
  title: "Describe a session",
  description:
    "Shows a conversation's settings, its size, its summary, and the turn that is under way. Its messages are read with read_messages.",
  scope: "sessions:read",
  opensTo: "session",
  annotations: READS,
  input: z.strictObject({ session_id: id("ses") }),
  output: description,
  async run({ session_id }, { c, deps }) {
    const described = await sessionClient(deps, c, session_id).repeatable((api, caller) => api.describe(caller));
    return described.ok ? ok(toDescription(toCallersView(c, described.value))) : described;
  },
});

const { shape } = createInput;

const newSession = defineTool({
  name: "create_session",
  title: "Create a session",
  description:
    "Creates an empty conversation. With an external_id it returns the conversation that has it already, unchanged, so that the call may be repeated.",
  scope: "sessions:write",
  opensTo: null,
  annotations: { readOnlyHint: false, destructiveHint: false },
  input: z.strictObject({
    title: shape.title.describe("At most 200 characters. Without one, a title may be made later"),
    system: shape.system.describe("Instructions for the model"),
    model: shape.model.describe("The id of a model in the registry. Without one, the default"),
    external_id: shape.external_id.describe("The application's own id of the conversation, which no other one has"),
    end_user: shape.end_user.describe("The application's id of the person who talks"),
    metadata: shape.metadata.describe("At most 16 entries"),
  }),
  output: description.extend({ is_new: z.boolean().describe("False: the conversation existed before") }),
  async run({ external_id, ...body }, { c, deps }) {
    const created = external_id
      ? await putSession(deps, c, { ...body, external_id })
      : await createSession(deps, c, { body, key: undefined });
    return created.ok ? ok({ ...toDescription(created.value.session), is_new: created.value.isNew }) : created;
  },
});

export const SESSION_TOOLS = [listSessions, searchSessions, getSession, newSession];
