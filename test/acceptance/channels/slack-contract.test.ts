import { describeChannel } from "../../channels/contract/describe-channel";
import { slackDriver } from "../../channels/contract/slack-driver";

describeChannel(slackDriver);
