import { cloudflareTest, readD1Migrations } from "@cloudflare/vitest-plugin";
import { defineConfig } from "vitest/config";

const migrations = await readD1Migrations("./migrations");

export default defineConfig({
  test: {
    silent: "passed-only",
    projects: [
      { test: { name: "node", include: ["test/**/*.test.ts"], exclude: ["test/workers/**"] } },
      {
        plugins: [
          cloudflareTest({
            wrangler: { configPath: "./wrangler.toml" },
            miniflare: {
              bindings: {
                MIGRATIONS: migrations,
                KEY_PEPPER: "a-pepper-for-tests-only",
                ADMIN_KEY: "an-admin-key-for-tests-only",
                ALLOW_PRIVATE_MODEL_URLS: "true",
                ALLOW_PRIVATE_TOOL_URLS: "true",
                // The current key, and one from before it: 32 bytes each.
                CREDENTIALS_KEYS: `new:${Buffer.alloc(32, 2).toString("base64")},old:${Buffer.alloc(32, 1).toString("base64")}`,
              },
            },
          }),
        ],
        test: { name: "workers", include: ["test/workers/**/*.test.ts"], globalSetup: "./test/support/stand-in-setup.ts" },
      },
    ],
  },
});
