import { describeChannel } from "../contract/describe-channel";
import { genericDriver } from "../contract/generic-driver";

describeChannel(genericDriver);
