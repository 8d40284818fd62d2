/** The calls about the database that a tenant's rows are in. */
import { describeChange } from "../app/placement";
import { ok } from "../lib/result";
import { type Calls, existing } from "./existing-tenant";

export const placementCalls = {
  placement: existing(({ placement }) => ok(placement.read())),
  readPlacement: async (tenant) => (tenant.isCreated ? tenant.placement.read() : null),
  place: existing((tenant, act, change) => {
    const place = () => {
      const before = tenant.placement.read();
      const placed = tenant.placement.place(change);
      const done = placed.version === before.version ? null : describeChange(before, placed);
      if (done) tenant.audit.append(act, { ...done, target: { type: "tenant", id: tenant.settings.identity().tenant } });
      return ok(placed);
    };
    // The list of tenants has the database that is read.
    const isSwitch = change.placement.database !== tenant.placement.read().database;
    return isSwitch ? tenant.change(place) : tenant.transaction(place);
  }),
} satisfies Partial<Calls>;
