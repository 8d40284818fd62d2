/** Refusals of what there is too much of, in a tenant or in a request, and of a key that has ended: part of the table in `problem`. */
import type { BudgetRefusal } from "../app/budget-ports";
import type { AdminKeyError, PlanError } from "../app/deployment-api";
import type { TenantError } from "../app/tenant-api";
import type { Rejection } from "../domain/rejection";
import { conflict, type RouteAnswer } from "./answer";
import { budgetAnswers } from "./budget-problems";
import { type RateLimitError, rateAnswers } from "./rate-problems";

/** Path and query, in characters. The platform itself takes no longer URL. */
export const MAX_URL = 16_384;
export const MAX_HEADERS = 128;
/** Names and values together, in characters: an access token of 4,096 and what proxies and browsers add. */
export const MAX_HEADER_CHARS = 32_768;

/** `longest`: the name of the header that takes most. */
export interface HeadersFault {
  readonly count: number;
  readonly longest: string;
}

export type RequestLimitError =
  | { readonly code: "url_too_long"; readonly limit: number }
  | ({ readonly code: "headers_too_large" } & HeadersFault)
  | RateLimitError;
type LimitError =
  | RequestLimitError
  | BudgetRefusal
  | Extract<AdminKeyError, { code: "key_ended" }>
  | Extract<Rejection, { code: "message_limit" }>
  | Extract<PlanError, { code: "plan_limit" | "plan_in_use" }>
  | Extract<TenantError, { code: "credential_limit" | "key_ended" | "key_limit" | "model_limit" | "session_limit" | "tool_limit" }>;

/** The longest header that an answer names. */
const MAX_NAME = 64;

function refuseHeaders({ count, longest }: HeadersFault): RouteAnswer {
  const isCount = count > MAX_HEADERS;
  const field = isCount || longest.length > MAX_NAME ? "headers" : longest;
  const detail = isCount ? `at most ${MAX_HEADERS} headers` : `all headers together have at most ${MAX_HEADER_CHARS} characters`;
  return { status: 431, title: "Headers too large", detail: `${field}: ${detail}.`, errors: [{ field, detail }] };
}

export const limitAnswers: { readonly [C in LimitError["code"]]: (error: Extract<LimitError, { code: C }>) => RouteAnswer } = {
  url_too_long: ({ limit }) => ({
    status: 414,
    title: "URL too long",
    detail: `url: path and query have at most ${limit} characters.`,
    errors: [{ field: "url", detail: `path and query have at most ${limit} characters` }],
    extra: { limit },
  }),
  headers_too_large: refuseHeaders,
  ...rateAnswers,
  ...budgetAnswers,
  credential_limit: ({ limit }) =>
    conflict("Too many credentials", `A tenant has at most ${limit} credentials; delete one first.`, { limit }),
  key_limit: ({ limit }) => conflict("Too many keys", `At most ${limit} keys are valid at a time; revoke one first.`, { limit }),
  key_ended: ({ became, rotated_to }) =>
    conflict(
      "Key ended",
      became === "rotated" ? `The key was rotated already: ${rotated_to} came in its place.` : `The key is ${became}.`,
      {
        became,
        rotated_to,
      },
    ),
  model_limit: ({ limit }) => conflict("Too many models", `A tenant has at most ${limit} models of its own; delete one first.`, { limit }),
  session_limit: ({ of, limit }) =>
    conflict("Too many sessions", `${of === "tenant" ? "The tenant" : "The end user"} has at most ${limit} sessions; erase some first.`, {
      of,
      limit,
    }),
  message_limit: ({ limit }) => conflict("Too many messages", `A session has at most ${limit} messages; continue in a new one.`, { limit }),
  plan_in_use: ({ tenants }) => conflict("Plan in use", `Tenants have the plan: ${tenants}. Give them another one first.`, { tenants }),
  plan_limit: ({ limit }) => conflict("Too many plans", `A deployment has at most ${limit} tenant plans; delete one first.`, { limit }),
  tool_limit: ({ of, limit }) =>
    conflict("Too many tools", `A tenant has at most ${limit} ${of === "tools" ? "tools" : "MCP servers"}; delete one first.`, { limit }),
};
