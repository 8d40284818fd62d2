/** How a tenant's sessions reach its webhooks: what the isolate knows of them, and the tenant's object. */
import type { AnnouncementPort } from "../../app/announcement-ports";
import type { KnownInterestCache } from "../../app/known-interest";
import type { TenantWebhooksApi } from "../../app/webhook-api";
import type { TenantId } from "../../domain/ids";

interface SourceDeps {
  readonly tenant: TenantId;
  readonly known: KnownInterestCache;
  /** Makes a fresh stub for each call. */
  readonly stub: Pick<TenantWebhooksApi, "announce">;
}

export const createAnnouncementSource = ({ tenant, known, stub }: SourceDeps): AnnouncementPort => ({
  mark: known.mark,
  peek: () => known.peek(tenant),
  lookUp: () => known.lookUp(tenant),
  hand: async (session, announcements) => {
    const handed = await stub.announce(session, announcements);
    // A tenant that is gone is told nothing.
    if (!handed.ok && handed.error.code !== "tenant_not_found") throw new Error(handed.error.code);
  },
});
