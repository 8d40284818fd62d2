import { describeChannel } from "../contract/describe-channel";
import { slackDriver } from "../contract/slack-driver";

describeChannel(slackDriver);
