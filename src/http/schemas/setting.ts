/** Settings of a tenant in an export's file, held to what the API accepts of a client that puts them. */
import { z } from "@hono/zod-openapi";
import type { ParseSetting, Setting } from "../../app/exported-settings";
import type { McpListing } from "../../app/tool-entry";
import { toListing } from "../../app/tools/mcp-listing";
import { policyChoiceSchema } from "../../context/policy-choice";
import { id } from "../../contract/ids";
import type { SettingKind } from "../../domain/export-format";
import { urlFault } from "../../lib/public-address";
import { err, ok, type Result } from "../../lib/result";
import { channelInput, channelName, toChannelSettings } from "./channel";
import { credentialName } from "./credential";
import { modelInput, modelName, refuseModelUrl, toOverride } from "./model";
import { retentionInput, toSetting } from "./retention";
import { httpToolInput, mcpServerInput, serverName, toHttpTool, toMcpServer, toolName } from "./server-tool";
import { tenantPatchInput } from "./tenant";
import { endpointInput } from "./webhook";

interface UrlRules {
  readonly allowPrivateModelUrls: boolean;
  readonly allowPrivateToolUrls: boolean;
}

type Parsed = Result<Setting, string>;
type Parse = (name: string, value: unknown, rules: UrlRules) => Parsed;

const toDetail = (field: string, { issues: [issue] }: z.ZodError): string =>
  `${[field, ...(issue?.path ?? [])].join(".")}: ${issue?.message ?? "is not valid"}`;

/** The value by the schema. `field`: names it in the detail, which quotes no value. */
function check<S extends z.ZodType>(schema: S, field: string, value: unknown): Result<z.output<S>, string> {
  const parsed = schema.safeParse(value);
  return parsed.success ? ok(parsed.data) : err(toDetail(field, parsed.error));
}

const then = <T>(checked: Result<T, string>, next: (value: T) => Parsed): Parsed => (checked.ok ? next(checked.value) : checked);

const parseModel: Parse = (name, value, { allowPrivateModelUrls }) =>
  then(check(modelName, "name", name), () =>
    then(check(modelInput, "value", value), (input) => {
      const model = toOverride(input, name);
      const fault = model.base_url === null ? null : refuseModelUrl(model.base_url, allowPrivateModelUrls);
      return fault ? err(`value.base_url: ${fault}`) : ok({ kind: "model", name, value: model });
    }),
  );

const parseTool: Parse = (name, value, { allowPrivateToolUrls }) =>
  then(check(toolName, "name", name), () =>
    then(check(httpToolInput, "value", value), (input) => {
      const fault = urlFault(input.url, allowPrivateToolUrls);
      return fault ? err(`value.url: ${fault}`) : ok({ kind: "tool", name, value: toHttpTool(input) });
    }),
  );

const listedServer = mcpServerInput.extend({
  listing: z.strictObject({
    tools: z.array(z.strictObject({ name: z.string(), description: z.string().nullable(), parameters: z.record(z.string(), z.unknown()) })),
    skipped: z.array(z.string().max(128)).max(128),
    truncated: z.boolean(),
  }),
});

/** The listing as one that a server sent: what no model could be offered is refused. */
function checkListing({ tools, skipped, truncated }: McpListing): McpListing | null {
  const listing = toListing(
    tools.map(({ name, description, parameters }) => ({ name, description: description ?? undefined, inputSchema: parameters })),
    truncated,
  );
  return listing.tools.length === tools.length ? { ...listing, skipped, truncated } : null;
}

const parseMcpServer: Parse = (name, value, { allowPrivateToolUrls }) =>
  then(check(serverName, "name", name), () =>
    then(check(listedServer, "value", value), ({ listing: listed, ...input }) => {
      const fault = urlFault(input.url, allowPrivateToolUrls);
      if (fault) return err(`value.url: ${fault}`);
      const listing = checkListing(listed);
      if (!listing) return err("value.listing: has tools that cannot be offered to a model");
      return ok({ kind: "mcp_server", name, value: toMcpServer(input), listing });
    }),
  );

const { name: tenantName, allowed_origins: origins } = tenantPatchInput.shape;
const tenantField = z.discriminatedUnion("name", [
  z.object({ name: z.literal("name"), value: tenantName.unwrap() }),
  z.object({ name: z.literal("default_model"), value: modelName }),
  z.object({ name: z.literal("default_policy"), value: policyChoiceSchema }),
  z.object({ name: z.literal("allowed_origins"), value: origins.unwrap() }),
]);

const parseField: Parse = (name, value) => {
  const checked = tenantField.safeParse({ name, value });
  return checked.success ? ok({ kind: "tenant", ...checked.data }) : err(toDetail("tenant", checked.error));
};

const parseRetention: Parse = (name, value) =>
  then(check(z.literal("rules"), "name", name), () =>
    then(check(retentionInput, "value", value), (input) => ok({ kind: "retention", name: "rules", value: toSetting(input) })),
  );

const parseChannel: Parse = (name, value) =>
  then(check(channelName, "name", name), () =>
    then(check(channelInput.omit({ credentials: true }), "value", value), (input) =>
      ok({ kind: "channel", name, value: toChannelSettings(input) }),
    ),
  );

const exportedEndpoint = endpointInput.extend({ enabled: z.boolean() });

const parseEndpoint: Parse = (name, value, { allowPrivateToolUrls }) =>
  then(check(id("whk"), "name", name), (endpoint) =>
    then(check(exportedEndpoint, "value", value), (input) => {
      const fault = urlFault(input.url, allowPrivateToolUrls);
      return fault ? err(`value.url: ${fault}`) : ok({ kind: "webhook_endpoint", name: endpoint, value: input });
    }),
  );

const PARSERS: Readonly<Record<SettingKind, Parse>> = {
  credential: (name) => then(check(credentialName, "name", name), () => ok({ kind: "credential", name })),
  model: parseModel,
  tool: parseTool,
  mcp_server: parseMcpServer,
  tenant: parseField,
  retention: parseRetention,
  channel: parseChannel,
  webhook_endpoint: parseEndpoint,
  key: (name) => then(check(id("key"), "name", name), () => ok({ kind: "key", name })),
};

export const createSettingParser =
  (rules: UrlRules): ParseSetting =>
  ({ kind, name, value }) =>
    PARSERS[kind](name, value, rules);
