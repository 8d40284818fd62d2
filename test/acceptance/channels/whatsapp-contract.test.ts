import { describeChannel } from "../../channels/contract/describe-channel";
import { whatsappDriver } from "../../channels/contract/whatsapp-driver";

describeChannel(whatsappDriver);
