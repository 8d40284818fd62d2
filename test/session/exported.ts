/** Exports of a session's life, and another life that restores them. */
import { expect } from "vitest";
import { createNodeSql } from "../../scripts/support/node-sql";
import type { Caller } from "../../src/app/session-api";
import { EXPORT_START, type ExportCursor, type ExportSource, PartBuilder } from "../../src/app/transfer/build-part";
import { FileImport, type ImportTarget } from "../../src/app/transfer/import-file";
import { PartWriter } from "../../src/app/transfer/part-writer";
import type { TenantId } from "../../src/domain/ids";
import { parseExportLine } from "../../src/http/import-sessions";
import { recordCheck } from "../../src/http/schemas/stored-record";
import { ok } from "../../src/lib/result";
import { id } from "../support/builders";
import { Life } from "./life";
import { ROOMY } from "./talk";

/** The export of one session, in parts of this size. `cut`: loses the part under way once, after so many steps. */
export async function exportSession(life: Life, caller: Caller, { size = 64_000, cut = -1 } = {}): Promise<Uint8Array<ArrayBuffer>> {
  const source: ExportSource = {
    listSettings: () => [],
    next: (after) => (after === null ? caller.session : null),
    read: async (_, input) => {
      const page = await life.service.exportLines(caller, input);
      if (!page.ok) return "gone";
      return "moved" in page.value ? "moved" : page.value;
    },
    listFiles: () => [],
    readFile: async () => null,
  };
  const facts = { of: "session", end_user: null, settings: [], made_at: 1 } as const;
  const parts: Uint8Array[] = [];
  let [cursor, previous, left]: [ExportCursor, string, number] = [EXPORT_START, "", cut];
  while (!cursor.ended) {
    const builder = new PartBuilder({ cursor, previous, size }, facts, source);
    let step = await builder.step();
    while (step === "more" && left !== 0) {
      left -= 1;
      step = await builder.step();
    }
    if (left === 0) {
      left = -1;
      continue;
    }
    expect(step).not.toBe("moved");
    const sealed = await builder.seal(step === "done");
    parts.push(sealed.bytes);
    [cursor, previous] = [builder.cursor, sealed.sha256];
  }
  expect(parts.slice(0, -1).every((part) => part.byteLength === size)).toBe(true);
  return new Uint8Array(await new Blob(parts.map((part) => new Uint8Array(part))).arrayBuffer());
}

/** `stored`: notes the files. */
function buildTarget(life: Life, tenant: TenantId, stored: string[]): ImportTarget {
  return {
    tenant,
    parse: parseExportLine,
    check: recordCheck,
    restoreSettings: null,
    stage: (session, input) => life.service.stageRestore({ tenant, session }, input),
    finish: (session, seq) => life.service.finishRestore({ tenant, session }, { seq }),
    drop: async (session) => void (await life.service.dropRestore({ tenant, session })),
    register: async () => ok(null),
    forget: async () => {},
    storeFile: async ({ id: file }) => {
      stored.push(file);
      return ok(null);
    },
  };
}

export const importStream = (life: Life, tenant: TenantId, body: ReadableStream<Uint8Array>, stored: string[] = []) =>
  new FileImport(buildTarget(life, tenant, stored), { maxFile: 2_000_000 }).run(body);
export const importInto = (life: Life, tenant: TenantId, bytes: Uint8Array<ArrayBuffer>, { stored = [] }: { stored?: string[] } = {}) =>
  importStream(life, tenant, new Blob([bytes]).stream(), stored);

export const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

export const sealed = async (lines: readonly string[]): Promise<Uint8Array<ArrayBuffer>> => {
  const writer = new PartWriter("");
  for (const line of lines) writer.add(line);
  const sessions = lines.filter((line) => line.includes('"session_end"')).length;
  return (await writer.seal({ sessions, lines: lines.length })).bytes;
};

/** Its ids are none that an export has. */
export function newTarget(): Life {
  let count = 1_000_000;
  const life = new Life(createNodeSql(), "life-2", (prefix) => id(prefix, ++count));
  life.models = { resolve: async () => ROOMY };
  return life;
}
