/** The calls about the database that a tenant's rows are in. */
import { describeChange } from "../app/placement";
import { ok } from "../lib/result";
import { type Calls, existing } from "./existing-tenant";

export const placementCalls = {
  placement: existing(({ placement }) => ok(placement.read())),
  readPlacement: async (tenant) => (tenant.isCreated ? tenant.placement.read() : null),
  place: existing((tenant, act, change) =>
    tenant.transaction(() => {
      const before = tenant.placement.read();
      const placed = tenant.placement.place(change);
      const done = placed.version === before.version ? null : describeChange(before, placed);
      if (done) tenant.audit.append(act, { ...done, target: { type: "tenant", id: tenant.settings.identity().tenant } });
      return ok(placed);
    }),
  ),
} satisfies Partial<Calls>;
