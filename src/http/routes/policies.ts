/** Lists the named policies, and explains each parameter. */
import { type OpenAPIHono, z } from "@hono/zod-openapi";
import { policyParameters } from "../../context/policy-parameters";
import { POLICY_NAMES, type PolicyName, presets, purposes } from "../../context/presets";
import { namedPolicyView, policyListView } from "../../contract/policy";
import type { HttpDeps, HttpEnv } from "../deps";
import { onePage } from "../examples/shared";
import { json, tenantRoute } from "../routing";
import { pageQuery, takeListPage } from "../schemas/page";

const tag = "policies";

const toNamedPolicy = (name: PolicyName) => ({ name, purpose: purposes[name], policy: presets[name] });
const policyExample = toNamedPolicy("balanced");

const list = tenantRoute({
  method: "get",
  path: "/v1/policies",
  tag,
  scope: null,
  operationId: "listPolicies",
  summary: "List policies",
  description: "Lists the named policies, with a description of every parameter.",
  request: { query: pageQuery },
  responses: {
    200: json("A page", policyListView, {
      ...onePage(policyExample),
      parameters: policyParameters().slice(0, 1),
      deployment: "balanced",
    }),
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
  request: { params: z.object({ policy_name: z.enum(POLICY_NAMES).openapi({ description: "The name of a policy" }) }) },
  responses: { 200: json("The policy", namedPolicyView, policyExample) },
});

export function registerPolicies(app: OpenAPIHono<HttpEnv>, deps: HttpDeps): void {
  app.openapi(list, (c) => {
    const page = takeListPage(POLICY_NAMES.map(toNamedPolicy), c.req.valid("query"), ({ name }) => POLICY_NAMES.indexOf(name) + 1);
    return c.json({ ...page, parameters: policyParameters(), deployment: deps.config.defaultPolicy }, 200);
  });
  app.openapi(get, (c) => c.json(toNamedPolicy(c.req.valid("param").policy_name), 200));
}
