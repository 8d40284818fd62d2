/** The state that the parts of a running soak share. */
import type { LocalServer } from "../support/local-server.ts";
import type { Sandbox } from "../support/sandbox.ts";
import type { Notes } from "./attempt.ts";
import type { Told } from "./clients.ts";

/** What the parts of a run share. */
export interface Scene {
  readonly sandbox: Sandbox;
  readonly told: Told[];
  readonly notes: Notes;
  readonly startedAt: number;
  server: LocalServer;
  /** Whether the server is ready and is not being killed. */
  up: boolean;
  kills: number;
  isOver: boolean;
}
