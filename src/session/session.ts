/** What the calls in `calls/` need of the session that they serve. The runtime provides it, and a call knows nothing else of the runtime. */
import type { SessionWriter } from "../app/session-ports";
import type { AfterTurnPorts } from "../app/turn/after-turn";
import type { ContentReader } from "./content";
import type { KnownModel } from "./known-model";
import type { SessionLimits } from "./limits";
import type { Step } from "./log/store";
import type { RuntimeDeps } from "./runtime-deps";
import type { StreamBuffer } from "./stream/stream-buffer";

/** A call that needs one thing more names it in its signature: `Session & { readonly progress: Progress }`. */
export interface Session extends SessionWriter {
  readonly deps: RuntimeDeps;
  readonly content: ContentReader;
  /** The live stream. Its offset is the cursor of every acknowledgement. */
  readonly buffer: StreamBuffer;
  readonly knownModel: KnownModel;
  readonly limits: SessionLimits;
  /** Runs several commands in one transaction. An exception undoes all of them. Unlike `execute` it learns no content. */
  transact<T>(work: (step: Step) => T): T;
  /** The ports of the application layer over this session. */
  ports(): AfterTurnPorts;
}
