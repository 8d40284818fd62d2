import { describeChannel } from "../../channels/contract/describe-channel";
import { discordDriver } from "../../channels/contract/discord-driver";

describeChannel(discordDriver);
