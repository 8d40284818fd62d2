/** The bindings of every test in workerd: the Worker's own, and those that `vitest.config.ts` adds. */
import type { D1Migration } from "cloudflare:test";
import type { Env as WorkerEnv } from "../../src/env";

declare global {
  namespace Cloudflare {
    interface Env extends WorkerEnv {
      readonly MIGRATIONS: D1Migration[];
      readonly ADMIN_KEY: string;
      readonly TEST_FLOODS: RateLimit;
    }
    interface GlobalProps {
      readonly mainModule: typeof import("../../src/index");
    }
  }
}
