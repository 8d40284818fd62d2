/**
 * The contract of channels: what holds on every platform, from a webhook to what people see, through the real backend in workerd. A new platform
 * gets all of it by one driver and one line.
 */
import { afterAll, beforeAll, describe, test } from "vitest";
import { COMMAND_RULES } from "./command-rules";
import { DELIVERY_RULES } from "./delivery-rules";
import type { ChannelDriver } from "./driver";
import { REPLY_RULES } from "./reply-rules";
import { type ChannelStage, openChannelStage } from "./stage";

/** `applies`: platforms of which the rule holds. Absent: all. */
export interface ChannelRule {
  readonly title: string;
  readonly applies?: (driver: ChannelDriver) => boolean;
  run(stage: ChannelStage): Promise<void>;
}

const START_MS = 120_000;
const RULE_MS = 60_000;

export function describeChannel(driver: ChannelDriver): void {
  describe(`a channel of the type ${driver.type}`, { timeout: RULE_MS }, () => {
    let stage: ChannelStage;
    beforeAll(async () => {
      stage = await openChannelStage(driver);
    }, START_MS);
    afterAll(() => stage?.close());

    for (const { title, applies, run } of [...DELIVERY_RULES, ...REPLY_RULES, ...COMMAND_RULES])
      if (!applies || applies(driver)) test(title, () => run(stage));
  });
}
