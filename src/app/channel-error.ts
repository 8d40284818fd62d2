/** Why a tenant's object refuses what is asked about its channels. */
import type { ChannelSettings } from "../contract/channel";

export type ChannelError =
  | { readonly code: "channel_not_found"; readonly channel: string }
  | { readonly code: "channel_limit"; readonly limit: number }
  /** The channel's access is not by pairing. */
  | { readonly code: "pairing_off"; readonly mode: ChannelSettings["access"]["mode"] }
  | { readonly code: "pairing_code_limit"; readonly limit: number }
  | { readonly code: "paired_user_not_found"; readonly user: string };
