/**
 * Gives every call of another object or service a time limit, so that one that hangs is one that failed: what the session does then it has to
 * know anyway. A hang without a limit would hold the turn, the queue of submissions or a job of the alarm until the object ends. Models and tools
 * have limits of their own (`Deadlines`, and the time-out of each tool).
 */
import { toErrorName } from "../lib/error-name";
import { limitCalls, within } from "../lib/timer";
import type { RuntimeDeps } from "./runtime-deps";

/** For what a turn waits for. An isolate answers from memory much sooner where it knows an answer (`tenant/look-ups`). */
const LOOK_UP_MS = 10_000;
/** For what is delivered behind the turn. */
const DELIVERY_MS = 60_000;
/** For D1, which may have to remove the rows of a long session, in many statements. */
const PROJECTION_MS = 5 * 60_000;

export function boundPorts(deps: RuntimeDeps): RuntimeDeps {
  const bound = <T extends object>(port: T, ms: number): T => limitCalls(port, ms, deps.schedule);
  const { queue, projection, usageArchive, acts, files, chats, models, tools, budgets, announcements, limits, isSuspended } = deps;
  return {
    ...deps,
    models: (tenant) => bound(models(tenant), LOOK_UP_MS),
    tools: (tenant) => {
      const runner = tools(tenant);
      return {
        needsApproval: (tool) => within(LOOK_UP_MS, deps.schedule, runner.needsApproval(tool)),
        run: (request, options) => runner.run(request, options),
      };
    },
    budgets: (tenant) => bound(budgets(tenant), LOOK_UP_MS),
    ...(announcements && { announcements: (tenant) => bound(announcements(tenant), LOOK_UP_MS) }),
    ...(limits && {
      limits: {
        read: (tenant) => within(LOOK_UP_MS, deps.schedule, limits.read(tenant)),
        slots: bound(limits.slots, LOOK_UP_MS),
      },
    }),
    // Chat goes on while it is not known whether the tenant is served.
    isSuspended: (tenant) =>
      within(LOOK_UP_MS, deps.schedule, isSuspended(tenant)).catch((error: unknown) => {
        deps.log.warn("standing_unknown", { error: toErrorName(error) });
        return false;
      }),
    queue: bound(queue, DELIVERY_MS),
    usageArchive: (tenant) => bound(usageArchive(tenant), DELIVERY_MS),
    acts: (tenant) => bound(acts(tenant), DELIVERY_MS),
    files: (tenant) => bound(files(tenant), DELIVERY_MS),
    ...(chats && { chats: (address) => bound(chats(address), DELIVERY_MS) }),
    projection: (tenant) => bound(projection(tenant), PROJECTION_MS),
  };
}
