/** The repository's own files, and the imports of the sources among them. */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, posix, relative } from "node:path";

const ROOT = join(import.meta.dirname, "..", "..");

/** Directories that git ignores, or that contain foreign files. */
const FOREIGN = new Set(["node_modules", ".git", ".wrangler", ".longhand", "dist", "coverage"]);

export interface SourceFile {
  /** The path from the repository's root, with `/`: `src/domain/ids.ts`. */
  readonly path: string;
  readonly text: string;
}

/** Every file under `directory` (from the root) whose name `matches`, ordered by path. */
export function readFiles(directory: string, matches: RegExp): readonly SourceFile[] {
  return listFiles(join(ROOT, directory))
    .filter((path) => matches.test(path))
    .map((path) => ({ path: relative(ROOT, path).replaceAll("\\", "/"), text: readFileSync(path, "utf8") }))
    .sort((a, b) => (a.path < b.path ? -1 : 1));
}

function listFiles(directory: string): string[] {
  return readdirSync(directory)
    .filter((name) => !FOREIGN.has(name))
    .flatMap((name) => {
      const path = join(directory, name);
      return statSync(path).isDirectory() ? listFiles(path) : [path];
    });
}

export interface Import {
  readonly from: string;
  /** A file of the repository by its path, or a package by its name as written. */
  readonly to: string;
  readonly typeOnly: boolean;
}

const IMPORT =
  /^(?:import|export)\s+(type\s)?[^;"']*?from\s*["']([^"']+)["']|^import\s*["']([^"']+)["']|\bimport\(\s*["']([^"']+)["']\s*\)/gm;

export function readImports(file: SourceFile): readonly Import[] {
  return [...file.text.matchAll(IMPORT)].map(([, type, from, bare, dynamic]) => ({
    from: file.path,
    to: resolveImport(file.path, from ?? bare ?? dynamic ?? ""),
    typeOnly: type !== undefined,
  }));
}

function resolveImport(importer: string, specifier: string): string {
  if (!specifier.startsWith(".")) return specifier;
  const path = posix.join(dirname(importer), specifier);
  return /\.[a-z]+$/.test(path) ? path : `${path}.ts`;
}

/** The code without its comments. With `strings: "empty"` also without the content of quotes (templates are kept). */
export function readCode(file: SourceFile, strings: "keep" | "empty"): string {
  return file.text.replace(/\/\*[\s\S]*?\*\/|\/\/.*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'/g, (token) => {
    if (token.startsWith("/")) return "";
    return strings === "keep" ? token : '""';
  });
}
