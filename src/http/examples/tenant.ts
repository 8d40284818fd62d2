/** Examples of what a tenant owns: settings, keys, models, credentials, tools and usage. */
import type { z } from "@hono/zod-openapi";
import { presets } from "../../context/presets";
import type { accessTokenView } from "../../contract/access-token";
import type { credentialView, rotationReport } from "../../contract/credential";
import type { adminKeyView, listedTenantView, tenantListRebuild } from "../../contract/deployment";
import type { fileView } from "../../contract/file";
import type { tenantAssignment, tenantPlanView } from "../../contract/limits";
import type { modelView } from "../../contract/model";
import type { ledgerRow } from "../../contract/model-call";
import type { databaseList, placementView } from "../../contract/placement";
import type { rebuildReport, tenantRebuildReport } from "../../contract/rebuild";
import type { httpToolEntry, mcpServerView } from "../../contract/registered-tool";
import type { keyView, tenantExportView, tenantView } from "../../contract/tenant";
import type { usageList } from "../../contract/usage";
import { usageSumsExample } from "./conversation";
import { ACCESS_TOKEN_ID, ADMIN_KEY_ID, AT, FILE, KEY, SECOND, SESSION, TENANT, TURN } from "./shared";

export const tenantExample: z.input<typeof tenantView> = {
  id: TENANT,
  name: "Acme",
  default_model: "gpt-5",
  default_policy: null,
  effective_policy: presets.balanced,
  allowed_origins: ["https://app.example.com"],
  plan: "starter",
  limits: { tenant: { requests_per_minute: 600 }, key: {}, end_user: { concurrent_turns: 1 } },
};

const DAY = 86_400 * SECOND;

export const fileExample: z.input<typeof fileView> = {
  id: FILE,
  name: "plan.pdf",
  media_type: "application/pdf",
  bytes: 48_213,
  sha256: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
  created_at: AT,
  sessions: 0,
  expires_at: AT + DAY,
};

export const keyExample: z.input<typeof keyView> = {
  id: KEY,
  name: "backend",
  scopes: ["sessions:read", "sessions:write"],
  restriction: null,
  clients: null,
  created_at: AT,
  expires_at: null,
  revoked_at: null,
  created_by: null,
  revoked_by: null,
  rotated_from: null,
  rotated_to: null,
  last_used_at: AT,
};

export const accessTokenExample: z.input<typeof accessTokenView> = {
  id: ACCESS_TOKEN_ID,
  token: "eyJhbGciOiJIUzI1NiIsInR5cCI6Imxvbmdo…",
  session_id: SESSION,
  end_user: null,
  scopes: ["sessions:read", "sessions:write"],
  expires_at: AT + 900 * SECOND,
};

export const modelExample: z.input<typeof modelView> = {
  id: "gpt-5",
  object: "model",
  type: "model",
  display_name: "gpt-5",
  created: 0,
  owned_by: "openai",
  provider: "openai",
  upstream_id: "gpt-5",
  base_url: null,
  context_window: 128_000,
  max_output: 8_192,
  capabilities: { tools: true, images: true, files: true, reasoning: true },
  ratio: null,
  prices: { input: 1.25, output: 10, cached: 0.125, cache_write: 1.25 },
  credential: "openai",
  endpoint: null,
  quirks: [],
  source: "tenant",
  sources: {
    context_window: "tenant",
    max_output: "tenant",
    capabilities: "preset",
    ratio: "unknown",
    prices: "prices_package",
  },
  warnings: [],
  suggestions: [],
};

export const suggestedModelExample: z.input<typeof modelView> = {
  ...modelExample,
  suggestions: [{ figure: "context_window", tokens: 400_000, source: "provider_endpoint", at: AT }],
};

export const credentialExample: z.input<typeof credentialView> = {
  name: "openai",
  key_id: "k1",
  created_at: AT,
  updated_at: AT,
  models: ["gpt-5"],
};

export const rotationExample: z.input<typeof rotationReport> = {
  key_id: "k2",
  total: 3,
  current: 0,
  resealed: 3,
  changed: 0,
  unreadable: [],
};

const registered = { created_at: AT, updated_at: AT, credential_missing: false };
export const weatherParameters = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
const secret_header = { name: "Authorization", credential: "weather", prefix: "Bearer " };

export const toolExample: z.input<typeof httpToolEntry> = {
  ...registered,
  name: "weather",
  description: "The weather in a city now.",
  parameters: weatherParameters,
  url: "https://api.example.com/weather",
  method: "POST",
  secret_header,
  timeout_ms: 30_000,
  max_bytes: 1_000_000,
  needs_approval: false,
  files: null,
};

export const mcpServerExample: z.input<typeof mcpServerView> = {
  ...registered,
  name: "desk",
  url: "https://mcp.example.com",
  secret_header,
  timeout_ms: 30_000,
  needs_approval: true,
  allowed_tools: null,
  listed_at: AT,
  tools: ["search_tickets", "close_ticket"],
  skipped: [],
  truncated: false,
};

export const modelCallExample: z.input<typeof ledgerRow> = {
  seq: 4,
  at: AT,
  turn_id: TURN,
  purpose: "turn",
  source: "turn",
  model: "gpt-5",
  key_id: KEY,
  end_user: "user-42",
  input: 398,
  uncached: 142,
  cached: 256,
  cache_write: 0,
  output: 14,
  reasoning: 0,
  cost: 0.0004,
  estimate: 405,
  outcome: "stop",
  ms: 1_850,
  left_out: [],
};

export const usageExample: z.input<typeof usageList> = {
  data: [
    { day: "2026-11-22", session_id: null, model: "gpt-5", purpose: null, source: null, key_id: null, end_user: null, ...usageSumsExample },
  ],
  has_more: false,
  next_cursor: null,
  from: AT - 86_400 * SECOND,
  to: AT,
  complete_from: null,
};

export const tenantExportExample: z.input<typeof tenantExportView> = {
  id: TENANT,
  name: "Acme",
  default_model: "gpt-5",
  default_policy: null,
  allowed_origins: ["https://app.example.com"],
  created_at: AT,
  status: "active",
  suspended_at: null,
  reason: null,
  plan: "starter",
  limits: { tenant: { requests_per_minute: 600 }, key: {}, end_user: { concurrent_turns: 1 } },
  models: [modelExample],
  keys: [keyExample],
};

export const adminKeyExample: z.input<typeof adminKeyView> = {
  id: ADMIN_KEY_ID,
  name: "on call",
  role: "operate",
  created_at: AT,
  expires_at: null,
  revoked_at: null,
  created_by: null,
  revoked_by: null,
  rotated_from: null,
  rotated_to: null,
  last_used_at: null,
};

export const listedTenantExample: z.input<typeof listedTenantView> = {
  id: TENANT,
  name: "Acme",
  created_at: AT,
  status: "active",
  database: "DB",
};

export const tenantPlanExample: z.input<typeof tenantPlanView> = {
  name: "starter",
  limits: { tenant: { requests_per_minute: 600 }, key: {}, end_user: { concurrent_turns: 1 } },
  budgets: [{ name: "monthly", of: "tenant", period: "month", unit: "usd", amount: 100, purposes: "all" }],
  version: 7,
  created_at: AT,
  updated_at: AT,
};

export const tenantAssignmentExample: z.input<typeof tenantAssignment> = {
  plan: "starter",
  limits: { tenant: { requests_per_minute: 1_200 }, key: {}, end_user: {} },
  effective_limits: { tenant: { requests_per_minute: 1_200 }, key: {}, end_user: { concurrent_turns: 1 } },
  budgets: [],
  effective_budgets: tenantPlanExample.budgets,
  version: 8,
  confirmed: true,
};

export const tenantListRebuildExample: z.input<typeof tenantListRebuild> = { tenants: 3, added: 1, unknown: [], next_cursor: null };

export const rebuildExample: z.input<typeof rebuildReport> = {
  session_id: SESSION,
  differences: [{ table: "sessions", key: SESSION, column: "message_count", before: 1, after: 2 }],
  repaired: true,
  rows: 14,
  next_cursor: null,
};

export const tenantRebuildExample: z.input<typeof tenantRebuildReport> = {
  tenant_id: TENANT,
  differences: [],
  repaired: true,
  rows: 3,
};

export const placementExample: z.input<typeof placementView> = {
  tenant_id: TENANT,
  database: "DB",
  version: 4,
  move: { from: "DB", to: "DB_2", phase: "copy", since: AT, sessions: 120, differences: 0 },
  wait_ms: 0,
};

export const databasesExample: z.input<typeof databaseList> = {
  data: [
    { database: "DB", bytes: 7_400_000_000, share: 0.74, level: "high", tenants: 12 },
    { database: "DB_2", bytes: 86_016, share: 0.0000086016, level: "ok", tenants: 0 },
  ],
};
