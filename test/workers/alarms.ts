/** The alarms of Durable Objects, rung by tests as if their time had come. */
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { ChatObject, DeploymentObject, SessionObject, TenantObject } from "../../src";
import { tenantObjectName } from "../../src/app/object-name";
import type { Tenant } from "./support";

/** The last ringing of each object's alarm. */
const rung = new WeakMap<object, Promise<void>>();

for (const { prototype } of [ChatObject, DeploymentObject, SessionObject, TenantObject]) {
  const { alarm } = prototype;
  prototype.alarm = function (this: object) {
    const work = alarm.call(this as never);
    rung.set(this, work);
    return work;
  };
}

/**
 * Rings the object's alarm and waits until its work is done. Vitest's `runDurableObjectAlarm` does nothing while the platform rings the
 * same alarm by itself, and does not wait for that one. Returns whether the alarm was set, or had rung in this life of the object.
 */
export function ringNow(stub: DurableObjectStub): Promise<boolean> {
  return runInDurableObject(stub, async (object: DurableObject, { storage }) => {
    const before = rung.get(object);
    await before?.catch(() => {});
    const isSet = (await storage.getAlarm()) !== null;
    if (isSet) await storage.deleteAlarm();
    const after = rung.get(object);
    if (after !== before) await after?.catch(() => {});
    await object.alarm?.();
    return isSet || after !== undefined;
  });
}

/** Rings the alarm of the tenant's object as if the time of every erasure and of every removal of a file had come. */
export async function ringErasures(tenant: Tenant): Promise<void> {
  const stub = env.TENANTS.getByName(tenantObjectName(tenant.id));
  await runInDurableObject(stub, (_, { storage }) => {
    storage.sql.exec("UPDATE erasures SET due_at = 1");
    storage.sql.exec("UPDATE files SET due_at = 1 WHERE due_at IS NOT NULL");
  });
  await ringNow(stub);
}
