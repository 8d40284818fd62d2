/** Refusals of what a tenant has as many of as it may have: part of the table in `problem`. */
import type { TenantError } from "../app/tenant-api";
import { conflict, type RouteAnswer } from "./answer";

type Code = "credential_limit" | "key_limit" | "model_limit" | "tool_limit";

export const limitAnswers: { readonly [C in Code]: (error: Extract<TenantError, { code: C }>) => RouteAnswer } = {
  credential_limit: ({ limit }) =>
    conflict("Too many credentials", `A tenant has at most ${limit} credentials; delete one first.`, { limit }),
  key_limit: ({ limit }) => conflict("Too many keys", `A tenant has at most ${limit} valid keys; revoke one first.`, { limit }),
  model_limit: ({ limit }) => conflict("Too many models", `A tenant has at most ${limit} models of its own; delete one first.`, { limit }),
  tool_limit: ({ of, limit }) =>
    conflict("Too many tools", `A tenant has at most ${limit} ${of === "tools" ? "tools" : "MCP servers"}; delete one first.`, { limit }),
};
