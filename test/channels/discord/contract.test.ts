import { describeChannel } from "../contract/describe-channel";
import { discordDriver } from "../contract/discord-driver";

describeChannel(discordDriver);
