/** Lists the named policies, the four profiles first, and explains each parameter on request. */
import { type OpenAPIHono, z } from "@hono/zod-openapi";
import { policyParameters } from "../../context/policy-parameters";
import { describePolicy } from "../../context/policy-words";
import { POLICY_NAMES, type PolicyName, PROFILE_NAMES, presets, purposes } from "../../context/presets";
import { type NamedPolicy, namedPolicyView, policyListView } from "../../contract/policy";
import { copyHeader, knownHeaders, sendCopy } from "../conditions";
import type { HttpDeps, HttpEnv } from "../deps";
import { onePage } from "../examples/shared";
import { json, tenantRoute } from "../routing";
import { pageQuery, takeListPage } from "../schemas/page";

const tag = "policies";

const isProfile = (name: PolicyName): boolean => PROFILE_NAMES.some((profile) => profile === name);
/** The order of the list. */
const LISTED: readonly PolicyName[] = [...PROFILE_NAMES, ...POLICY_NAMES.filter((name) => !isProfile(name))];

const toNamedPolicy = (name: PolicyName): NamedPolicy => ({
  name,
  kind: isProfile(name) ? "profile" : "preset",
  purpose: purposes[name],
  ...describePolicy(presets[name]),
  figures: "docs/policy-figures.md",
  policy: presets[name],
});
const policyExample = toNamedPolicy("balanced");

const withoutValues = ({ policy: _, ...shown }: NamedPolicy) => shown;

const listQuery = pageQuery.extend({
  include: z.enum(["parameters"]).optional().openapi({
    description: "`parameters`: also all values of each policy, and the bounds and the meaning of every parameter",
  }),
});

const list = tenantRoute({
  method: "get",
  path: "/v1/policies",
  tag,
  scope: null,
  operationId: "listPolicies",
  summary: "List policies",
  description:
    "Lists the named policies, the four profiles first: what each is for, when it compacts, and what it keeps. `include=parameters` adds their values and a description of every parameter.",
  request: { query: listQuery, headers: knownHeaders },
  responses: {
    200: { ...json("A page", policyListView, { ...onePage(withoutValues(policyExample)), deployment: "balanced" }), headers: copyHeader },
    304: { description: "The page is the one that `If-None-Match` names", headers: copyHeader },
  },
});

const get = tenantRoute({
  method: "get",
  path: "/v1/policies/{policy_name}",
  tag,
  scope: null,
  operationId: "getPolicy",
  summary: "Read a policy",
  description: "Shows a named policy with all its values.",
  request: {
    params: z.object({ policy_name: z.enum(POLICY_NAMES).openapi({ description: "The name of a policy" }) }),
    headers: knownHeaders,
  },
  responses: {
    200: { ...json("The policy", namedPolicyView, policyExample), headers: copyHeader },
    304: { description: "The policy is the one that `If-None-Match` names", headers: copyHeader },
  },
});

export function registerPolicies(app: OpenAPIHono<HttpEnv>, deps: HttpDeps): void {
  app.openapi(list, (c) => {
    const { include, ...query } = c.req.valid("query");
    const page = takeListPage(LISTED.map(toNamedPolicy), query, ({ name }) => LISTED.indexOf(name) + 1);
    const deployment = deps.config.defaultPolicy;
    if (include === "parameters") return sendCopy(c, { ...page, parameters: policyParameters(), deployment });
    return sendCopy(c, { ...page, data: page.data.map(withoutValues), deployment });
  });
  app.openapi(get, (c) => sendCopy(c, toNamedPolicy(c.req.valid("param").policy_name)));
}
