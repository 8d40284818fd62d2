/**
 * The entry of every npm script: `node scripts/run.mjs <command> [arguments]`. Plain JavaScript for Node >= 20 without
 * dependencies, because it runs before any are installed. It installs missing packages of the lock file, finds the
 * project's own Node 22, and passes on arguments, signals and the exit code.
 */
import { spawn, spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { availableParallelism, constants } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { refuseNode, runsTypeScript } from "./support/node-version.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const bin = join(root, "node_modules", ".bin");

const script = (file) => ["--disable-warning=ExperimentalWarning", "--import", "./scripts/support/typescript-imports.mjs", file];
const tool = (name, path, ...rest) => [join(root, "node_modules", name, path), ...rest];

/** Each command is a list of Node command lines, which run one after another. The caller's arguments go to the last one. */
const COMMANDS = {
  start: [script("scripts/start.ts")],
  test: [tool("vitest", "vitest.mjs", "run")],
  acceptance: [tool("vitest", "vitest.mjs", "run")],
  replay: [script("scripts/replay.ts")],
  "crash-test": [script("scripts/crash-test.ts")],
  rebuild: [script("scripts/rebuild.ts")],
  "move-tenant": [script("scripts/move-tenant.ts")],
  "rotate-credentials": [script("scripts/rotate-credentials.ts")],
  "verify-audit": [script("scripts/verify-audit.ts")],
  bench: [script("bench/run.ts")],
  lab: [script("scripts/lab.ts")],
  estimates: [script("scripts/estimates.ts")],
  margin: [script("scripts/margin.ts")],
  recall: [script("scripts/recall.ts")],
  soak: [script("scripts/soak.ts")],
  fidelity: [script("scripts/fidelity.ts")],
  try: [script("scripts/try.ts")],
  agents: [script("scripts/agents.ts")],
  providers: [script("scripts/providers.ts")],
  openapi: [script("scripts/openapi.ts")],
  client: [script("scripts/client.ts")],
  prepare: [[...script("scripts/client.ts"), "--build"]],
  demo: [script("scripts/demo.ts")],
  // A process for each core: its files wait for nothing.
  simulate: [tool("vitest", "vitest.mjs", "run", "--project", "node", `--maxWorkers=${availableParallelism()}`, "test/simulation/seeds-")],
  mutants: [script("scripts/mutants.ts")],
  check: [
    // One checker: with more, each learns the types of the packages anew, which costs half as much again and saves nothing on two cores.
    tool("typescript", "bin/tsc", "-p", ".", "--noEmit", "--checkers", "1"),
    tool("typescript", "bin/tsc", "-p", "packages/client", "--noEmit"),
    [...script("scripts/openapi.ts"), "--lint"],
    [...script("scripts/client.ts"), "--check"],
    [...script("scripts/providers.ts"), "--check"],
    tool("@biomejs/biome", "bin/biome", "ci"),
    script("scripts/sizes.ts"),
  ],
  wrangler: [tool("wrangler", "bin/wrangler.js")],
};

const say = (text) => process.stderr.write(`${text}\n`);

function fail(text) {
  say(text);
  process.exit(1);
}

function readLock(path) {
  try {
    return JSON.parse(readFileSync(path, "utf8")).packages ?? {};
  } catch {
    return null;
  }
}

/**
 * Commands that need no package which only tests, checks and builds use: most of the download. Their first run installs a third of it, and
 * another command adds the rest.
 */
const WITHOUT_TOOLS = new Set(["start"]);

/** npm records the installed packages in node_modules/.package-lock.json. Optional packages for other platforms may be absent. */
function isInstalled(tools) {
  const wanted = readLock(join(root, "package-lock.json"));
  const installed = readLock(join(root, "node_modules", ".package-lock.json"));
  if (!wanted) return fail("package-lock.json is missing or not JSON; restore it with: git checkout package-lock.json");
  if (!installed) return false;
  const same = (path) => wanted[path]?.version === installed[path]?.version && wanted[path]?.integrity === installed[path]?.integrity;
  const isRequired = ({ optional, dev, devOptional }) => !optional && (tools || (!dev && !devOptional));
  const required = Object.keys(wanted).filter((path) => path !== "" && isRequired(wanted[path]));
  // A package that the lock file no longer names is harmless, so it alone causes no installation.
  return required.every(same) && Object.keys(installed).every((path) => !wanted[path] || same(path));
}

function install(tools) {
  // `npm ci` removes all packages first, and a server of this checkout may run on them. `npm install` adds what is missing.
  const adds = tools && isInstalled(false);
  const [command, ...how] = adds ? ["install", "--no-save", "--include=dev"] : ["ci", tools ? "--include=dev" : "--omit=dev"];
  say(`Installing dependencies (npm ${command}); this happens once after a clone or a change of package-lock.json …`);
  const npm = process.env.npm_execpath;
  const args = [command, ...how, "--no-audit", "--no-fund", "--loglevel=error"];
  // All of npm's output goes to stderr, because stdout belongs to the command.
  const options = { cwd: root, stdio: ["ignore", 2, 2] };
  const done = npm?.endsWith(".js") ? spawnSync(process.execPath, [npm, ...args], options) : spawnSync("npm", args, options);
  if (done.status !== 0) fail(`npm ${command} failed (see above). Is the package registry within reach? Try: npm ci`);
}

/** npm runs `prepare` of packages/client before it notes in node_modules what it installed, so the folder itself is asked for the compiler. */
const hasCompiler = () => existsSync(join(root, "node_modules", "typescript"));

/**
 * An installation of this checkout without the tools, as by `npm start`, builds no client. They are installed first for a project that installs the
 * client from its folder, and to pack it.
 */
function preparesNothing() {
  const isOwn = process.env.npm_config_local_prefix === root && !/^(pack|publish)$/.test(process.env.npm_command ?? "");
  return isOwn && !hasCompiler();
}

function installMissing(name) {
  const tools = !WITHOUT_TOOLS.has(name);
  if (name === "prepare" ? !hasCompiler() : !isInstalled(tools)) install(tools);
}

/** The Node in node_modules/.bin if the lock file has one for this platform, otherwise the Node that runs this script. */
function findNode() {
  const own = join(bin, "node");
  if (existsSync(own)) return own;
  if (runsTypeScript(process.versions.node)) return process.execPath;
  return fail(`The Node that the project brings is not installed, and ${process.versions.node} cannot take its place. Try: npm ci`);
}

const environment = {
  ...process.env,
  PATH: `${bin}${delimiter}${process.env.PATH ?? ""}`,
  // Paths on the command line are relative to the caller's directory. npm reports that directory, because commands run
  // in the root.
  INIT_CWD: process.env.npm_lifecycle_event ? process.env.INIT_CWD : process.cwd(),
  // Wrangler works offline and sends no telemetry.
  CLOUDFLARE_CF_FETCH_ENABLED: "false",
  WRANGLER_SEND_METRICS: "false",
  WRANGLER_SEND_ERROR_REPORTS: "false",
  WRANGLER_HIDE_BANNER: "true",
  WRANGLER_WRITE_LOGS: "false",
  // A Worker on this machine gets the variables of its own file and none of the shell's.
  CLOUDFLARE_INCLUDE_PROCESS_ENV: "false",
  NO_UPDATE_NOTIFIER: "1",
};

/**
 * npm passes a signal only to its shell, which dies of it and leaves this process behind. If npm started this process,
 * the command ends with the shell. Started without npm it may outlive its shell, as any command may.
 */
function watchParent(onLost) {
  const parent = process.ppid;
  const look = () => {
    if (process.ppid !== parent) onLost();
  };
  return process.env.npm_lifecycle_event ? setInterval(look, 200) : undefined;
}

/** Resolves with the exit code. A child that was ended by a signal has the code 128 + its number, as in a shell. */
function runNode(node, args) {
  return new Promise((resolve) => {
    // The IPC channel tells a child that this process was killed: it closes.
    const child = spawn(node, args, { cwd: root, env: environment, stdio: ["inherit", "inherit", "inherit", "ipc"] });
    const forward = (signal) => child.kill(signal);
    const signals = ["SIGINT", "SIGTERM", "SIGHUP"];
    for (const signal of signals) process.on(signal, forward);
    const orphaned = watchParent(() => forward("SIGTERM"));
    child.on("error", (error) => fail(`Could not run ${node}: ${error.message}`));
    child.on("exit", (code, signal) => {
      clearInterval(orphaned);
      for (const name of signals) process.off(name, forward);
      resolve(code ?? 128 + (constants.signals[signal] ?? 0));
    });
  });
}

/** The number that test/simulation/run-seeds.ts uses. */
const FEW_SEEDS = 50;

const SIMULATE_USAGE = `Usage: npm run simulate -- [--seed N | --seeds N]
  --seed N   one run, with its whole story when it breaks an invariant
  --seeds N  the first N runs (24)`;

/** The simulation runs inside vitest, which accepts no other options, so they are passed as variables. */
function takeSeeds(args) {
  const names = { "--seed": "SEED", "--seeds": "SEEDS" };
  if (args.includes("--help") || args.includes("-h")) {
    process.stdout.write(`${SIMULATE_USAGE}\n`);
    process.exit(0);
  }
  const rest = args.filter((arg, index) => !names[arg] && !names[args[index - 1]]);
  for (const [index, arg] of args.entries()) {
    if (!names[arg]) continue;
    const value = args[index + 1] ?? "";
    if (!/^[1-9]\d*$/.test(value)) fail(`${arg} wants a whole number above 0\n\n${SIMULATE_USAGE}`);
    environment[names[arg]] = value;
  }
  // A few seeds run in the first file only. The other files would have nothing to do.
  const few = environment.SEED || Number(environment.SEEDS ?? FEW_SEEDS) < FEW_SEEDS;
  if (few) COMMANDS.simulate[0].splice(-1, 1, "test/simulation/seeds-1");
  return rest;
}

/** `--slowest N` is the reporter's own (test/support/slowest-reporter.ts), and Vitest refuses an option that it does not know. */
function takeSlowest(args) {
  const at = args.indexOf("--slowest");
  if (at < 0) return args;
  const most = args[at + 1] ?? "";
  if (!/^[1-9]\d*$/.test(most)) fail("--slowest wants a whole number above 0: npm test -- --slowest 20");
  environment.SLOWEST = most;
  return args.toSpliced(at, 2);
}

const isProject = (arg) => /^--project(=|$)/.test(arg);

/** Without a project of the caller's choice, the tests are those of the first step of `.ci/run`, or of the second. */
const takeTests = (projects) => (args) => {
  const rest = takeSlowest(args);
  return rest.some(isProject) ? rest : [...projects.flatMap((name) => ["--project", name]), ...rest];
};

const takeFirstStep = takeTests(["node", "workers"]);

/** The second step tries the whole budget of chance and size (test/support/effort.ts). */
function takeSecondStep(args) {
  environment.TEST_EFFORT ??= "1";
  return takeTests(["acceptance", "acceptance-workers"])(args);
}

const TAKE = { simulate: takeSeeds, test: takeFirstStep, acceptance: takeSecondStep };

async function main([name, ...given]) {
  const rest = TAKE[name]?.(given) ?? given;
  const lines = Object.hasOwn(COMMANDS, name ?? "") ? COMMANDS[name] : null;
  if (!lines) fail(`Unknown command: ${name ?? "(none)"}. Known: ${Object.keys(COMMANDS).join(", ")}`);
  if (name === "prepare" && preparesNothing()) return;
  const refused = refuseNode({ platform: process.platform, arch: process.arch, version: process.versions.node });
  if (refused) fail(refused);
  installMissing(name);
  await import("./copy-assets.mjs");
  const node = findNode();
  for (const [index, line] of lines.entries()) {
    const code = await runNode(node, index === lines.length - 1 ? [...line, ...rest] : line);
    if (code !== 0) process.exit(code);
  }
}

await main(process.argv.slice(2));
