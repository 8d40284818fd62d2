/** Which limits of concurrent turns and streams apply to a caller, and how one refuses. */
import type { LimitSet } from "../contract/limits";
import type { SlotRefusal } from "../domain/rejection";
import { type LimitedUser, listLimits } from "./limit-owners";
import type { SlotRule } from "./slot-meter";

/** The wait that a refusal names: nothing says when a slot will be free. */
const TRY_AGAIN_SECONDS = 1;

const LIMITS = { turns: "concurrent_turns", streams: "concurrent_streams" } as const;

/** The rules that apply to what runs for this key and this end user. */
export const listSlotRules = (what: SlotRule["what"], user: LimitedUser, limits: LimitSet): readonly SlotRule[] =>
  listLimits(LIMITS[what], user, limits).map((limited) => ({ what, ...limited }));

export const toSlotRefusal = ({ what, of, limit }: SlotRule): SlotRefusal => ({
  code: "rate_limited",
  limit: LIMITS[what],
  of,
  max: limit,
  seconds: TRY_AGAIN_SECONDS,
});
