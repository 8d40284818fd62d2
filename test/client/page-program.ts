/** Runs the program of a page as its reader would: in a folder of its own, with the connection of `npm start`. */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import type { Connection } from "../../scripts/support/api-client";
import { writeConnection } from "../../scripts/support/connection";
import { readPages } from "../support/doc-pages";
import { findPrograms } from "../support/doc-programs";

const ROOT = join(import.meta.dirname, "..", "..");

interface Ran {
  readonly lines: number;
  /** What the page shows. */
  readonly output: string | null;
  readonly said: string;
  readonly wrong: string;
}

/** `name`: of the page in docs/clients. Its first program is run. */
export async function runPageProgram(name: string, connection: Connection): Promise<Ran> {
  const page = readPages().find(({ path }) => path === `docs/clients/${name}.md`);
  const [program] = page ? findPrograms(page) : [];
  if (!program) throw new Error(`The page ${name} has no program`);
  const home = mkdtempSync(join(tmpdir(), `longhand-${name}-`));
  try {
    symlinkSync(join(ROOT, "node_modules"), join(home, "node_modules"));
    writeConnection(connection, join(home, ".longhand", "dev.json"));
    writeFileSync(join(home, "program.mjs"), program.code);
    const child = spawn(process.execPath, ["program.mjs"], { cwd: home, stdio: ["ignore", "pipe", "pipe"] });
    const [said, wrong] = await Promise.all([text(child.stdout), text(child.stderr)]);
    return { lines: program.code.trimEnd().split("\n").length, output: program.output, said, wrong };
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}
