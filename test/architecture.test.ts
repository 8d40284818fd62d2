/** The house's rules of direction and purity (docs/architecture.md), read off the files themselves. */
import fc from "fast-check";
import { describe, expect, inject, test } from "vitest";
import { type Import, readCode, readFiles, readImports, type SourceFile } from "./support/source-files";

const sources = readFiles("src", /\.tsx?$/);
const paths = new Set(sources.map((file) => file.path));
const imports = sources.flatMap(readImports);
const internal = imports.filter(({ to }) => paths.has(to));

const CODE = ["src", "test", "scripts", "bench", "packages"].flatMap((directory) => readFiles(directory, /\.(ts|tsx|mjs)$/));

/** lib ← domain ← context ← contract ← app ← evaluate ← audit ← the outer folders ← index and env. */
const INNER = ["lib", "domain", "context", "contract", "app", "evaluate", "audit"];
/** Modules without a clock, randomness or the platform. */
const PURE = ["domain", "context", "evaluate"];
const OUTER = new Set(["session", "tenant", "deployment", "read-model", "http", "queue", "model", "tools", "files", "channels", "console"]);
/** The platform creates these objects, so they build their own ports. */
const COMPOSITION_ROOTS = new Set([
  "src/session/session-object.ts",
  "src/tenant/tenant-object.ts",
  "src/deployment/deployment-object.ts",
  "src/channels/chat/chat-object.ts",
]);
const ENV = "src/env.ts";
const INDEX = "src/index.ts";
/** Build the ports that the entry and the objects share. */
const WIRING = new Set(["src/wiring.ts", "src/channel-wiring.ts"]);

const LINES_WITHOUT_REASON = 400;
const MOST_LINES = 600;

/** `domain` for `src/domain/ids.ts`. Empty for `src/index.ts`. */
const findFolder = (path: string): string => /^src\/([^/]+)\//.exec(path)?.[1] ?? "";
const findRank = (folder: string): number => (OUTER.has(folder) ? INNER.length : INNER.indexOf(folder));
const show = ({ from, to }: Import): string => `${from} → ${to}`;

/**
 * `env.ts` names the objects' types for their bindings, and validates values by the rules of `context`. Only a
 * composition root may use its values; other modules may import its types.
 */
function isAllowed({ from, to, typeOnly }: Import): boolean {
  if (from === INDEX || COMPOSITION_ROOTS.has(from)) return to !== INDEX;
  if (WIRING.has(from)) return to !== INDEX && !COMPOSITION_ROOTS.has(to);
  if (from === ENV) return typeOnly || ["lib", "context"].includes(findFolder(to));
  if (to === ENV) return typeOnly && OUTER.has(findFolder(from));
  const source = findFolder(from);
  const target = findFolder(to);
  return target !== "" && (source === target || findRank(target) < findRank(source));
}

/** A file is a subject. A long one may be one, and says at its top why. */
function judgeLength({ path, text }: Pick<SourceFile, "path" | "text">): readonly string[] {
  const { length } = text.trimEnd().split("\n");
  if (length > MOST_LINES) return [`${path} has ${length} lines`];
  const [header = ""] = /^\/\*\*[\s\S]*?\*\//.exec(text) ?? [];
  if (length <= LINES_WITHOUT_REASON || header.includes("One file, because")) return [];
  return [`${path} has ${length} lines: its first comment must say "One file, because …"`];
}

/** One cycle of imports, or null. */
function findCycle(edges: ReadonlyMap<string, readonly string[]>): readonly string[] | null {
  const done = new Set<string>();
  const visit = (path: string, trail: readonly string[]): readonly string[] | null => {
    if (trail.includes(path)) return [...trail.slice(trail.indexOf(path)), path];
    if (done.has(path)) return null;
    for (const next of edges.get(path) ?? []) {
      const cycle = visit(next, [...trail, path]);
      if (cycle) return cycle;
    }
    done.add(path);
    return null;
  };
  for (const path of edges.keys()) {
    const cycle = visit(path, []);
    if (cycle) return cycle;
  }
  return null;
}

function listEdges(chosen: readonly Import[]): ReadonlyMap<string, readonly string[]> {
  return new Map([...paths].map((path) => [path, chosen.filter(({ from }) => from === path).map(({ to }) => to)]));
}

describe("direction of dependencies", () => {
  test("every folder has its place in the order", () => {
    const unknown = [...paths].filter((path) => findFolder(path) !== "" && findRank(findFolder(path)) < 0);
    expect(unknown).toEqual([]);
    expect([...paths].filter((path) => findFolder(path) === "")).toEqual([...WIRING, ENV, INDEX].toSorted());
  });

  test("imports point inwards, and outer folders do not know one another", () => {
    expect(internal.filter((each) => !isAllowed(each)).map(show)).toEqual([]);
  });

  test("among the stories, what is shared knows none of them, all may build requests, and only a turn knows others: it compacts, and runs tools", () => {
    const findRoom = (path: string): string => /^src\/app\/([^/]+)\//.exec(path)?.[1] ?? "";
    const isApp = (path: string): boolean => findFolder(path) === "app";
    const across = internal.filter(({ from, to }) => isApp(from) && isApp(to) && findRoom(from) !== findRoom(to) && findRoom(to) !== "");
    const isOfTurn = (room: string): boolean => room === "compaction" || room === "tools";
    const isStory = (room: string, other: string): boolean => (room === "turn" && isOfTurn(other)) || (room !== "" && other === "request");
    expect(across.filter(({ from, to }) => !isStory(findRoom(from), findRoom(to))).map(show)).toEqual([]);
  });

  test("every relative import names a file that is there", () => {
    const missing = imports.filter(({ to }) => to.startsWith("src/") && !paths.has(to));
    expect(missing.map(show)).toEqual([]);
  });

  test("no file imports itself by a detour", () => {
    const withoutHub = internal.filter(({ from, typeOnly }) => !(from === ENV && typeOnly));
    expect(findCycle(listEdges(withoutHub))).toBeNull();
  });

  test("every file is reached from the entry: what no request, job or alarm uses is not here", () => {
    const edges = listEdges(internal);
    const reached = new Set([INDEX]);
    for (const path of reached) for (const next of edges.get(path) ?? []) reached.add(next);
    expect([...paths].filter((path) => !reached.has(path))).toEqual([]);
  });
});

describe("the client", () => {
  const client = readFiles("packages/client/src", /\.ts$/);
  const isWithin = (path: string): boolean => path.startsWith("packages/client/src/");

  test("imports its own files only, beside what its build takes in, and the backend imports nothing of it", () => {
    const foreign = client.flatMap(readImports).filter(({ to }) => !isWithin(to) && to !== "eventsource-parser");
    expect(foreign.map(show)).toEqual([]);
    expect(imports.filter(({ to }) => /^packages\/|^longhand\b/.test(to)).map(show)).toEqual([]);
  });

  test("no file is over 600 lines but the generated one, and none over 400 lacks its reason", () => {
    expect(client.filter(({ path }) => !path.endsWith("/generated.ts")).flatMap(judgeLength)).toEqual([]);
  });
});

describe("purity", () => {
  const pure = sources.filter(({ path }) => PURE.includes(findFolder(path)));

  test("domain, context and evaluate import nothing of the platform, the web framework, the database or the AI SDK", () => {
    const forbidden = /^(cloudflare:|node:|hono|@hono\/|drizzle-orm|ai$|ai\/|@ai-sdk\/|workers-ai-provider)/;
    expect(imports.filter(({ from, to }) => pure.some(({ path }) => path === from) && forbidden.test(to)).map(show)).toEqual([]);
  });

  test("contract imports no package but the one that describes shapes, and all others but http import its types alone", () => {
    const external = imports.filter(({ from, to }) => findFolder(from) === "contract" && !paths.has(to));
    expect(external.filter(({ to }) => to !== "@hono/zod-openapi").map(show)).toEqual([]);
    const users = internal.filter(({ from, to }) => findFolder(to) === "contract" && findFolder(from) !== "contract");
    expect(users.filter(({ from, typeOnly }) => !typeOnly && findFolder(from) !== "http").map(show)).toEqual([]);
  });

  test("domain, context and evaluate use no clock, randomness, network or console", () => {
    const impure = /\b(Date\.now|new Date\(|Math\.random|performance\.|crypto\.|fetch\(|setTimeout|setInterval|console\.)/;
    const found = pure.flatMap((file) => {
      const hit = impure.exec(readCode(file, "empty"));
      return hit ? [`${file.path}: ${hit[0]}`] : [];
    });
    expect(found).toEqual([]);
  });

  test("only lib/log writes to the console", () => {
    const writers = sources.filter((file) => /\bconsole\./.test(readCode(file, "empty"))).map(({ path }) => path);
    expect(writers.filter((path) => path !== "src/lib/log.ts")).toEqual([]);
  });

  test("D1 is reached through databaseFor alone", () => {
    const direct = sources.filter((file) => /\benv\.DB\b/.test(readCode(file, "empty"))).map(({ path }) => path);
    expect(direct).toEqual(["src/read-model/database-for.ts"]);
  });

  test("SQL is written in session, tenant, deployment, audit, read-model and channels only, but for what all objects share", () => {
    const sql =
      /\b(SELECT\s[^;]*?\sFROM\s|INSERT\s+(OR\s+\w+\s+)?INTO\s|UPDATE\s+\w+\s+SET\s|DELETE\s+FROM\s|CREATE\s+(TABLE|INDEX|TRIGGER)\s)/;
    const rooms = ["session", "tenant", "deployment", "audit", "read-model", "channels"];
    const isShared = (path: string): boolean => path.startsWith("src/lib/scrub/") || path === "src/lib/schema-steps.ts";
    const elsewhere = sources.filter(({ path }) => !rooms.includes(findFolder(path)) && !isShared(path));
    expect(elsewhere.filter((file) => sql.test(readCode(file, "keep"))).map(({ path }) => path)).toEqual([]);
  });
});

describe("chance in tests", () => {
  const SETUP = "test/support/seed-setup.ts";

  test("every property draws from the seed of this run, in each project", () => {
    expect(fc.readConfigureGlobal().seed).toBe(inject("seed"));
    const [config] = readFiles(".", /^(.*\/)?vitest\.config\.ts$/);
    const projects = config?.text.match(/\bname: "/g) ?? [];
    expect(projects).toHaveLength(4);
    expect(config?.text.match(/\bname: "[\w-]+", \.\.\.IN_(NODE|WORKERD)\b/g)).toHaveLength(projects.length);
    expect(config?.text.match(/= \{\s*\.\.\.SEEDED\b/g)).toHaveLength(2);
  });

  test("nothing is drawn but by a property or from a seed", () => {
    const unseeded = /\b(Math\.random|randomUUID|randomBytes|randomInt|getRandomValues|configureGlobal|resetConfigureGlobal)\(/;
    const found = readFiles("test", /\.tsx?$/).filter((file) => file.path !== SETUP && unseeded.test(readCode(file, "empty")));
    expect(found.map(({ path }) => path)).toEqual([]);
  });
});

describe("test files share processes, so that", () => {
  const files = readFiles("test", /\.tsx?$/).map((file) => ({ path: file.path, code: readCode(file, "empty") }));

  test("no module beside them registers a hook when it is loaded: only the first file would have it", () => {
    const hooked = files.filter(({ path, code }) => !/\.test\.tsx?$/.test(path) && /^(before|after)(All|Each)\(/m.test(code));
    expect(hooked.map(({ path }) => path)).toEqual([]);
  });

  test("no file replaces a module, a global or a variable of the environment for the files behind it", () => {
    const lasting = /\bvi\.(mock|doMock|stubEnv|stubGlobal)\(|\bprocess\.(chdir\(|env(\.\w+|\[[^\]]*\]) *=[^=])|\bdelete process\.env\b/;
    expect(files.filter(({ code }) => lasting.test(code)).map(({ path }) => path)).toEqual([]);
  });
});

describe("the files themselves", () => {
  test("no source file is over 600 lines, and none over 400 lacks its reason", () => {
    expect(sources.flatMap(judgeLength)).toEqual([]);
  });

  test("the judge of lengths takes a file of up to 400 lines, up to 600 with a reason at the top, and none above", () => {
    const build = (lines: number, first: string) => ({
      path: "src/long.ts",
      text: [first, ...Array(lines - 1).fill("code();")].join("\n"),
    });
    const reason = "/** Reads events. One file, because its steps share a cursor. */";
    expect([build(400, "code();"), build(600, reason)].flatMap(judgeLength)).toEqual([]);
    expect(judgeLength(build(401, "code();"))).toEqual(['src/long.ts has 401 lines: its first comment must say "One file, because …"']);
    expect(judgeLength(build(601, reason))).toEqual(["src/long.ts has 601 lines"]);
  });

  test("file names are in kebab-case", () => {
    expect([...paths].filter((path) => !/^(src\/)([a-z0-9-]+\/)*[a-z0-9-]+\.tsx?$/.test(path))).toEqual([]);
  });

  test("no function is named after a question: `findX`, `toX` or `readX`, not `xOf`", () => {
    const named = CODE.flatMap(({ path, text }) =>
      [...text.matchAll(/\b(?:function\*?|const) ([a-z]\w*Of)\b(?:\(|<| = (?:async )?(?:\(|<|\w+ =>))/g)].map(
        ([, name]) => `${path}: ${name}`,
      ),
    );
    expect(named).toEqual([]);
  });

  test("comments and test titles name their subject", () => {
    const vague =
      /^\s*(?:\/\*\*|\*|\/\/).*\b(?:nobody|whoever|somebody|anybody)\b|^\s*(?:test|it|describe)\(["`].*\b(?:nobody|whoever|somebody|anybody)\b/gim;
    expect(CODE.flatMap(({ path, text }) => [...text.matchAll(vague)].map(([line]) => `${path}: ${line.trim()}`))).toEqual([]);
  });

  test("no text names a developer's machine or package registry", () => {
    const machine = /(?<![\w.~/-])\/(?:work|root|home|Users)\/\w|\bC:\\\w|https?:\/\/[^\s/"'`]*(?:registry|artifactory|verdaccio|nexus)/i;
    const named = readFiles(".", /\.(md|mjs|ts|tsx|sql|toml|json)$|\/run$/).filter(({ text }) => machine.test(text));
    expect(named.map(({ path }) => path)).toEqual([]);
  });
});

describe("exported names", () => {
  const EXPORT = /^export (?:async )?(?:const|function\*?|class|interface|type|let) ([\w$]+)/gm;
  const exported = sources.flatMap((file) => [...file.text.matchAll(EXPORT)].map(([, name = ""]) => ({ name, path: file.path })));

  test("have one meaning: no two files export the same name", () => {
    const byName = Map.groupBy(exported, ({ name }) => name);
    const twice = [...byName].flatMap(([name, found]) => (found.length > 1 ? [`${name}: ${found.map(({ path }) => path)}`] : []));
    expect(twice).toEqual([]);
  });

  test("are used in another file: what only its own file needs is not exported", () => {
    const words = CODE.map((file) => ({ path: file.path, names: new Set(readCode(file, "keep").match(/[\w$]+/g)) }));
    // Tables are read as a whole, so that they can be compared with the result of the migrations.
    const unused = exported.filter(
      ({ name, path }) => path !== "src/read-model/schema.ts" && !words.some((file) => file.path !== path && file.names.has(name)),
    );
    expect(unused.map(({ name, path }) => `${path}: ${name}`)).toEqual([]);
  });
});
