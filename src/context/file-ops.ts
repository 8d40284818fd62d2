/**
 * The files that a conversation has read and modified, taken from its tool calls and carried over its compactions. A
 * file that was read and later modified counts as modified.
 */
import type { FileMapping, ToolDefinition } from "../domain/message";
import { neutralize } from "./delimiters";
import { estimateTokens } from "./tokens";
import { takeHead } from "./tool-results";

export interface FileOps {
  readonly read: readonly string[];
  readonly modified: readonly string[];
}

export const NO_FILES: FileOps = { read: [], modified: [] };

const words = (list: string): ReadonlySet<string> => new Set(list.split(" "));
/** Words of a tool's name that show what it does. The weak ones count only together with a word for files. */
const READS = words("read view open cat show");
const WEAK_READS = words("get load fetch");
const CHANGES = words("write create save edit modify update patch append insert replace rewrite overwrite");
const WEAK_CHANGES = words("apply change");
const FILES = words(
  "file files content contents line lines text document diff patch str string block blocks code notebook cell cells range",
);
/** Words that do not change the meaning. Any other word means that the tool works on something else, such as a directory or a ticket. */
const FILLERS = words("to in into and or new multi multiple many based editor tool at from by of the all search find regex");
const PATH_KEYS = [
  "path",
  "file_path",
  "filePath",
  "file",
  "filename",
  "file_name",
  "target_file",
  "notebook_path",
  "paths",
  "files",
  "edits",
] as const;
/** Arguments in which a patch tool receives its patch. */
const PATCH_KEYS = ["patch", "diff", "input"] as const;
/** The lines of a patch that name files. */
const PATCHED = /^(?:\*\*\* (?:Add|Update|Delete) File: |\+\+\+ b\/)(\S.*)$/gm;
/** Maximum number of paths of each kind. The newest are kept. */
const MAX_PATHS = 100;
const MAX_PATH_CHARS = 300;

/** What a tool does to files, and which arguments may name them. Null when it is not known to touch files. */
type Touch = { readonly modifies: boolean; readonly keys: readonly string[] } | null;
export type TouchOf = (tool: string) => Touch;

/** Decides by the session's tool definitions. A tool without a mapping, or one that is no longer offered, is judged by its name. */
export function buildTouch(tools: readonly Pick<ToolDefinition, "name" | "files">[]): TouchOf {
  const mapped = new Map(tools.flatMap(({ name, files }): [string, FileMapping][] => (files ? [[name, files]] : [])));
  return (tool) => {
    const files = mapped.get(tool);
    return files ? { modifies: files.op !== "read", keys: [files.path] } : guessTouch(tool);
  };
}

/**
 * Judges a tool by the words of its name, without the prefix of a server or namespace: `edit_file_lines`, `MultiEdit`,
 * `mcp__disk__writeToFile`.
 */
function guessTouch(tool: string): Touch {
  const name = tool.split(/__|[./:]/).at(-1) ?? "";
  const parts = name
    .replaceAll(/([a-z])([A-Z])/g, "$1_$2")
    .toLowerCase()
    .split(/[_\s-]+/)
    .filter(Boolean);
  const says = (...known: readonly ReadonlySet<string>[]): boolean => parts.some((part) => known.some((set) => set.has(part)));
  const isOfFiles = parts.every((part) => [READS, WEAK_READS, CHANGES, WEAK_CHANGES, FILES, FILLERS].some((set) => set.has(part)));
  if (!isOfFiles) return null;
  if (says(CHANGES) || (says(WEAK_CHANGES) && says(FILES))) return { modifies: true, keys: PATH_KEYS };
  return says(READS) || (says(WEAK_READS) && says(FILES)) ? { modifies: false, keys: PATH_KEYS } : null;
}

type Calls = Iterable<{ readonly name: string; readonly arguments: string }>;

/** `calls` in order: the tool's name, and its arguments as JSON text. Arguments that cannot be parsed name no files. */
export function collectFileOps(calls: Calls, before: FileOps = NO_FILES, touch: TouchOf = guessTouch): FileOps {
  const read = new Set(before.read);
  const modified = new Set(before.modified);
  for (const call of calls) {
    const touched = touch(call.name);
    const paths = touched ? pathsIn(call.arguments, touched) : [];
    for (const path of paths) addNewest(touched?.modifies ? modified : read, path);
  }
  return { read: [...read].filter((path) => !modified.has(path)).slice(-MAX_PATHS), modified: [...modified].slice(-MAX_PATHS) };
}

function addNewest(paths: Set<string>, path: string): void {
  paths.delete(path);
  paths.add(path);
}

/** The paths in the first argument that names any: one path, or a list. Otherwise the paths in a patch. */
function pathsIn(text: string, { modifies, keys }: NonNullable<Touch>): readonly string[] {
  const given = parseArguments(text);
  const named = firstPaths(given, keys);
  return named.length > 0 || !modifies ? named : PATCH_KEYS.flatMap((key) => patchedBy(given.get(key)));
}

function parseArguments(text: string): ReadonlyMap<string, unknown> {
  try {
    return toFields(JSON.parse(text));
  } catch {
    return NO_FIELDS;
  }
}

const NO_FIELDS: ReadonlyMap<string, unknown> = new Map();
const toFields = (value: unknown): ReadonlyMap<string, unknown> =>
  typeof value === "object" && value !== null ? new Map(Object.entries(value)) : NO_FIELDS;

const firstPaths = (given: ReadonlyMap<string, unknown>, keys: readonly string[]): readonly string[] =>
  keys.map((key) => toPaths(given.get(key))).find((paths) => paths.length > 0) ?? [];

/** Accepts a path, a list of paths, or a list of objects with a path each. */
const toPaths = (value: unknown): readonly string[] =>
  (Array.isArray(value) ? value : [value]).flatMap((path: unknown): readonly string[] => {
    if (typeof path === "string") return path.trim() === "" ? [] : [toPath(path)];
    return Array.isArray(value) ? firstPaths(toFields(path), PATH_KEYS) : [];
  });

const patchedBy = (patch: unknown): readonly string[] =>
  typeof patch === "string" ? [...patch.matchAll(PATCHED)].slice(0, MAX_PATHS).map(([, path = ""]) => toPath(path)) : [];

const toPath = (path: string): string => takeHead(path.trim().replace(/[\r\n]+/g, " "), MAX_PATH_CHARS);

const READ_TAG = "read-files";
const MODIFIED_TAG = "modified-files";

const withoutTags = (text: string): string => neutralize(READ_TAG, neutralize(MODIFIED_TAG, text));

/** Minimum share of a summary's cap for the lists, where they need it. */
const LISTS_SHARE = 1 / 8;

/**
 * Appends the lists to `summary`. They get what the summary leaves of `cap` tokens; the newest paths stay, modified
 * files first. Text of the summary under these tags is neutralised, so that it is not taken for our lists.
 */
export function withFileOps(summary: string, files: FileOps, cap = Number.POSITIVE_INFINITY): string {
  const said = withoutTags(summary);
  const { read, modified } = newestWithin(files, Math.max(cap * LISTS_SHARE, cap - estimateTokens(said)));
  const list = (tag: string, paths: readonly string[]): string[] =>
    paths.length === 0 ? [] : [`<${tag}>\n${paths.map(withoutTags).join("\n")}\n</${tag}>`];
  return [said, ...list(READ_TAG, read), ...list(MODIFIED_TAG, modified)].join("\n\n");
}

/** Raw tokens of a list's tags. */
const TAGS_TOKENS = 16;
/** Estimates are rounded, so each of many short texts may weigh up to this much more than estimated. */
const ROUNDING = 0.5;

function newestWithin({ read, modified }: FileOps, room: number): FileOps {
  let left = room;
  const newest = (paths: readonly string[]): readonly string[] => {
    left -= TAGS_TOKENS;
    let from = paths.length;
    while (from > 0) {
      left -= estimateTokens(`${paths[from - 1]}\n`) + ROUNDING;
      if (left < 0) break;
      from--;
    }
    return paths.slice(from);
  };
  const changed = newest(modified);
  return { modified: changed, read: newest(read) };
}

/** The lists that `withFileOps` appended to an earlier summary. */
export function fileOpsIn(summary: string): FileOps {
  const list = (tag: string): string[] => {
    const start = summary.lastIndexOf(`<${tag}>\n`);
    const end = summary.lastIndexOf(`\n</${tag}>`);
    return start < 0 || end < start
      ? []
      : summary
          .slice(start + tag.length + 3, end)
          .split("\n")
          .filter(Boolean);
  };
  return { read: list(READ_TAG), modified: list(MODIFIED_TAG) };
}

/** A summary without its lists. Code adds them anew each time, so the model does not update them. */
export const withoutFileOps = (summary: string): string => summary.split(/\n\n<(?:read|modified)-files>\n/, 1)[0] ?? "";
