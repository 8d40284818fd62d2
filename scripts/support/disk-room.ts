/** Says in plain words that a disk is full or cannot be written. Each program that meets it has words of its own. */
import { statfsSync } from "node:fs";
import { Failure } from "./output.ts";

/** With less room, writes fail soon. A database takes that much for its own log before it frees any. */
const LITTLE_MB = 64;

const NO_ROOM = /ENOSPC|EDQUOT|SQLITE_FULL|database or disk is full|no space left on device/i;

const NOT_WRITABLE = /EROFS|EACCES|EPERM|SQLITE_READONLY|readonly database|read-only file system/i;

/** An error of a folder that cannot be written, in place of one that names a file in it. Any other error is returned as it is. */
export function explainReadOnly(error: unknown, path: string): unknown {
  if (!(error instanceof Error) || error instanceof Failure || !NOT_WRITABLE.test(error.message)) return error;
  return new Failure(
    `The folder ${path} cannot be written. Longhand keeps its data and its key there: make it writable, or copy it elsewhere.`,
  );
}

function readRoom(path: string): number {
  const { bavail, bsize } = statfsSync(path);
  return Math.floor((bavail * bsize) / 1e6);
}

/** Null: there is room. `path` exists. */
export function describeLittleRoom(path: string): string | null {
  const room = readRoom(path);
  if (room >= LITTLE_MB) return null;
  return `The disk of ${path} is almost full: ${room} MB are left. Without room, messages are refused (507) and lists are unavailable (503); what is stored can be read. Both end when there is room.`;
}

/** An error that names the full disk, in place of one that it caused. Any other error is returned as it is. */
export function explainFullDisk(error: unknown, path: string): unknown {
  if (!(error instanceof Error) || !NO_ROOM.test(error.message)) return error;
  return new Failure(`The disk of ${path} is full: ${readRoom(path)} MB are left. Make room, and run npm start again; no data is lost.`);
}
