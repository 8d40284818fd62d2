/**
 * The contract of channels: what holds on every platform, from a webhook to what people see, through the real backend in workerd. A new platform
 * gets all of it by one driver and one line.
 */
import { afterAll, describe, test } from "vitest";
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

const RULE_MS = 120_000;

/**
 * Rules run at once, because what a bot says waits for the platform's pace. Each has a platform and a tenant for itself, which the next one
 * takes over.
 */
export function describeChannel(driver: ChannelDriver): void {
  const [opened, free]: [ChannelStage[], ChannelStage[]] = [[], []];
  const takeStage = async (): Promise<ChannelStage> => {
    const idle = free.pop();
    if (idle) return idle;
    const stage = await openChannelStage(driver);
    opened.push(stage);
    return stage;
  };
  describe.concurrent(`a channel of the type ${driver.type}`, { timeout: RULE_MS }, () => {
    afterAll(() => Promise.all(opened.map((stage) => stage.close())));

    for (const { title, applies, run } of [...DELIVERY_RULES, ...REPLY_RULES, ...COMMAND_RULES])
      if (!applies || applies(driver))
        test(title, async () => {
          const stage = await takeStage();
          await run(stage);
          free.push(stage);
        });
  });
}
