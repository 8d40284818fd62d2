import { describeChannel } from "../contract/describe-channel";
import { telegramDriver } from "../contract/telegram-driver";

describeChannel(telegramDriver);
