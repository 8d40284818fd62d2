/** The adapters by the type of their platform. */
import type { ChannelAdapter } from "../app/channels/channel";
import type { ChannelType } from "../contract/channel";
import { discord } from "./discord/discord";
import { createGenericAdapter } from "./generic/generic";
import { slack } from "./slack/slack";
import { telegram } from "./telegram/telegram";
import { whatsapp } from "./whatsapp/whatsapp";

const ADAPTERS: Readonly<Record<ChannelType, ChannelAdapter<unknown>>> = {
  telegram,
  slack,
  discord,
  whatsapp,
  generic: createGenericAdapter(Date.now),
};

export const findAdapter = (type: ChannelType): ChannelAdapter<unknown> => ADAPTERS[type];
