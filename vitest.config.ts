import { cloudflareTest, readD1Migrations } from "@cloudflare/vitest-plugin";
import { defineConfig } from "vitest/config";
import { AnswersReporter } from "./test/support/answers-reporter.ts";
import { NEVER_ANSWERED } from "./test/support/never-answered.ts";
import { SEEDED } from "./test/support/read-seed.ts";
import { TEST_VARIABLES } from "./test/support/test-variables.ts";

const migrations = await readD1Migrations("./migrations");

export default defineConfig({
  test: {
    silent: "passed-only",
    reporters: ["default", new AnswersReporter({ worker: "workers", layer: "node", exempt: NEVER_ANSWERED })],
    projects: [
      { test: { name: "node", ...SEEDED, include: ["test/**/*.test.ts"], exclude: ["test/workers/**"] } },
      {
        plugins: [
          cloudflareTest({
            wrangler: { configPath: "./wrangler.toml" },
            // Over what Wrangler reads from `[vars]`, `.dev.vars` and `.env`.
            miniflare: { bindings: { ...TEST_VARIABLES, MIGRATIONS: migrations } },
          }),
        ],
        test: { name: "workers", ...SEEDED, include: ["test/workers/**/*.test.ts"], globalSetup: "./test/support/stand-in-setup.ts" },
      },
    ],
  },
});
