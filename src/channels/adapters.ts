/** The adapters of this build by the type of their platform. Null: there is none yet, so that no channel of the type can be put. */
import type { ChannelAdapter } from "../app/channels/channel";
import type { ChannelType } from "../contract/channel";
import { discord } from "./discord/discord";
import { createGenericAdapter } from "./generic/generic";
import { slack } from "./slack/slack";
import { telegram } from "./telegram/telegram";
import { whatsapp } from "./whatsapp/whatsapp";

const ADAPTERS: Readonly<Record<ChannelType, ChannelAdapter<unknown> | null>> = {
  telegram,
  slack,
  discord,
  whatsapp,
  generic: createGenericAdapter(Date.now),
};

export const findAdapter = (type: ChannelType): ChannelAdapter<unknown> | null => ADAPTERS[type];
