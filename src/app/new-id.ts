/** Fresh ids on monotonic ULIDs: sortable, also within a millisecond of one isolate. */
import { monotonicFactory } from "ulidx";
import type { IdKinds, IdPrefix, NewId } from "../domain/ids";

const ulid = monotonicFactory();

export const newId: NewId = <P extends IdPrefix>(prefix: P) => `${prefix}_${ulid()}` as IdKinds[P];
