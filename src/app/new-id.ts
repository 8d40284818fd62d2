/** Creates ids from monotonic ULIDs. They sort by time, also within one millisecond of one isolate. */
import { monotonicFactory } from "ulidx";
import type { IdKinds, IdPrefix, NewId } from "../domain/ids";

const ulid = monotonicFactory();

export const newId: NewId = <P extends IdPrefix>(prefix: P) => `${prefix}_${ulid()}` as IdKinds[P];
