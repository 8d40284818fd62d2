import { globSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { cloudflareTest, readD1Migrations } from "@cloudflare/vitest-plugin";
import { defineConfig } from "vitest/config";
import { AnswersReporter } from "./test/support/answers-reporter.ts";
import { keepFoldersInMemory } from "./test/support/memory-folders.ts";
import { NEVER_ANSWERED } from "./test/support/never-answered.ts";
import { SEEDED } from "./test/support/read-seed.ts";
import { SlowestReporter } from "./test/support/slowest-reporter.ts";
import { TEST_VARIABLES } from "./test/support/test-variables.ts";

/**
 * Test files share processes, each with its modules loaded once. A file leaves nothing behind that another could see, so that the order does
 * not matter. In Node there are two processes more than cores, because many files wait for a server. In workerd there is one for each core:
 * each is sent all modules. Projects with other numbers of processes run one after another.
 */
const CORES = availableParallelism();
const MANY = { isolate: false, maxWorkers: CORES + 2 };
const FEW = { isolate: false, maxWorkers: CORES, sequence: { groupOrder: 1 } };

/** Most values of a test live briefly. A larger young generation, in MB, saves a tenth of the time. */
const ROOM_FOR_THE_YOUNG = "--max-semi-space-size=64";

keepFoldersInMemory(process.env);

const migrations = await readD1Migrations("./migrations");

const plugins = [
  cloudflareTest({
    wrangler: { configPath: "./wrangler.toml" },
    // Over what Wrangler reads from `[vars]`, `.dev.vars` and `.env`.
    miniflare: {
      bindings: { ...TEST_VARIABLES, MIGRATIONS: migrations },
      ratelimits: { TEST_FLOODS: { namespace_id: "1002", simple: { limit: 5, period: 60 } } },
      // Two more databases. They have no tables, so no tenant is placed there, unless a test applies the migrations.
      d1Databases: { DB_2: "longhand-2", DB_3: "longhand-3" },
    },
  }),
];

/** Tests in plain Node, and tests in workerd. */
const IN_NODE = { ...SEEDED, ...MANY, execArgv: [ROOM_FOR_THE_YOUNG] };
const IN_WORKERD = {
  ...SEEDED,
  ...FEW,
  // With its cache, Vitest sends all modules in one message for each file, which is so large that workerd may refuse it.
  fsModuleCache: false,
  setupFiles: SEEDED.setupFiles.concat("./test/support/worker-setup.ts"),
  globalSetup: "./test/support/stand-in-setup.ts",
};

const LATER = "test/acceptance/**";
const OF_WORKERS = "test/workers/**/*.test.ts";
const LATER_OF_WORKERS = "test/acceptance/workers/**/*.test.ts";

/**
 * Vitest calls it an error when background work of the Worker logs a line while the test file ends: the line was on its way, and is lost. It
 * says nothing about the tests.
 */
const isLateLine = ({ name, message }: { readonly name?: string; readonly message: string }): boolean =>
  name === "EnvironmentTeardownError" && message.includes("onUserConsoleLog");

/** The tests of which the first step tries a part (test/support/effort.ts). */
const DRAWS = /support\/effort"|"\.\/test-seeds"/;
const drawing = globSync("test/**/*.test.ts").filter((file) => DRAWS.test(readFileSync(file, "utf8")));
const isOfWorkers = (file: string): boolean => file.startsWith("test/workers/");

/** The second step has the tests of `test/acceptance` (docs/testing.md), and the whole of those that draw. */
export default defineConfig({
  test: {
    silent: "passed-only",
    onUnhandledError: (error) => !isLateLine(error),
    reporters: [
      "default",
      new AnswersReporter({ worker: ["workers", "acceptance-workers"], layer: "node", exempt: NEVER_ANSWERED }),
      new SlowestReporter(Number(process.env.SLOWEST ?? 0)),
    ],
    projects: [
      { test: { name: "node", ...IN_NODE, include: ["test/**/*.test.ts"], exclude: [OF_WORKERS, LATER] } },
      { plugins, test: { name: "workers", ...IN_WORKERD, include: [OF_WORKERS] } },
      { test: { name: "acceptance", ...IN_NODE, include: [`${LATER}/*.test.ts`, ...drawing], exclude: [LATER_OF_WORKERS, OF_WORKERS] } },
      { plugins, test: { name: "acceptance-workers", ...IN_WORKERD, include: [LATER_OF_WORKERS, ...drawing.filter(isOfWorkers)] } },
    ],
  },
});
