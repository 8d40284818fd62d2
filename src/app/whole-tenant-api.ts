/** Everything that may be asked of a tenant's object. */
import type { TenantAuditApi } from "./audit-api";
import type { TenantChannelsApi } from "./channels-api";
import type { TenantErasureApi } from "./erasure-api";
import type { TenantExportsApi } from "./export-api";
import type { TenantFilesApi } from "./file-api";
import type { TenantRetentionApi } from "./retention-api";
import type { TenantStandingApi } from "./standing";
import type { TenantApi, TenantMaintenance } from "./tenant-api";
import type { TenantBudgetsApi } from "./tenant-budgets-api";
import type { TenantWebhooksApi } from "./webhook-api";

export interface WholeTenantApi
  extends TenantApi,
    TenantAuditApi,
    TenantBudgetsApi,
    TenantChannelsApi,
    TenantErasureApi,
    TenantExportsApi,
    TenantFilesApi,
    TenantMaintenance,
    TenantRetentionApi,
    TenantStandingApi,
    TenantWebhooksApi {}
