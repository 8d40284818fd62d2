import { describeChannel } from "../contract/describe-channel";
import { whatsappDriver } from "../contract/whatsapp-driver";

describeChannel(whatsappDriver);
