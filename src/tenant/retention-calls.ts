/** The calls about retention that a tenant's object answers. */
import { refuseUnmet, toEtag } from "../app/conditions";
import type { TenantRetentionApi } from "../app/retention-api";
import type { RetentionSetting, RetentionView } from "../contract/retention";
import { ok } from "../lib/result";
import { toMonthStart } from "../lib/utc-time";
import { type Calls, type Existing, existing, served } from "./existing-tenant";

/** The rules that a setting names. */
const listRules = (setting: RetentionSetting): readonly string[] =>
  Object.entries(setting).flatMap(([name, rule]) => (rule === null || name === "by_policy" ? [] : [name]));

const toSettingEtag = ({ starts_at: _, ...setting }: RetentionView): string => toEtag(setting);

const putRetention: Existing<"putRetention"> = async (tenant, act, setting, condition) => {
  const { retention, usageRetention } = tenant.upkeep;
  const { tenant: id } = tenant.settings.identity();
  const describe = () =>
    ({ action: "retention.changed", target: { type: "tenant", id }, details: { fields: listRules(setting) } }) as const;
  const put = tenant.transaction(
    tenant.audited({ act, describe }, () => refuseUnmet(condition, toSettingEtag(retention.read())) ?? ok(retention.write(setting))),
  );
  await retention.settle();
  await usageRetention.settle();
  return put;
};

export const retentionCalls = {
  readRetention: existing(({ upkeep }) => ok(upkeep.retention.read())),
  putRetention: served(putRetention),
  previewRetention: existing(async ({ upkeep, usageBound }, input) => {
    const { remove_usage_after_months: months } = input.setting ?? upkeep.retention.read();
    const before = months === null ? null : toMonthStart(Date.now(), months);
    const isDue = before !== null && before > (usageBound.read().applied ?? Number.NEGATIVE_INFINITY);
    return ok({ ...(await upkeep.retention.preview(input)), usage_before: isDue ? before : null });
  }),
} satisfies Pick<Calls, keyof TenantRetentionApi>;
