/** The tools of the session's tenant, as its turns call them. */
import type { ToolOutcome, ToolRunner } from "../app/ports";
import type { SessionState } from "../domain/state";
import type { RuntimeDeps } from "./runtime-deps";

const NO_TOOL_RUNNER: ToolOutcome = { output: "The tool is not run here.", failure: "not_configured" };

export const tenantTools = (session: { readonly state: SessionState; readonly deps: Pick<RuntimeDeps, "tools"> }): ToolRunner => ({
  needsApproval: async (tool) => {
    const { tenant } = session.state;
    return tenant ? session.deps.tools(tenant).needsApproval(tool) : false;
  },
  run: async (request, options) => {
    const { tenant } = session.state;
    return tenant ? session.deps.tools(tenant).run(request, options) : NO_TOOL_RUNNER;
  },
});
