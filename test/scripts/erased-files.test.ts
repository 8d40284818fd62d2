/** What is left on disk of an erased session: the files of a real server, read as bytes. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { z } from "zod";
import { type Connection, callApi } from "../../scripts/support/api-client";
import { createTenant } from "../../scripts/support/connection";
import { createSandbox } from "../../scripts/support/sandbox";

const MARK = "unforgettable-zanzibar";
const SECONDS = 60_000;

/** Files of the objects that hold the mark, write-ahead logs included. */
function filesWithMark(state: string): string[] {
  const objects = join(state, "v3", "do");
  const files = readdirSync(objects, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files.map((file) => join(file.parentPath, file.name)).filter((path) => readFileSync(path).includes(MARK));
}

const post = (connection: Connection, path: string, body: unknown) => callApi(connection, { method: "POST", path, body });

test(
  "the object's files hold the text of a session until it is erased, and nothing of it afterwards",
  async () => {
    const sandbox = await createSandbox();
    try {
      const server = await sandbox.start();
      const connection = await createTenant(server.url, sandbox.adminKey);
      const opened = await post(connection, "/v1/sessions", { system: `${MARK}-system`, title: `${MARK}-title`, metadata: { note: MARK } });
      const path = `/v1/sessions/${z.object({ id: z.string() }).parse(opened).id}`;
      await post(connection, `${path}/messages`, { content: `${MARK}-message ${"more text ".repeat(2_000)}` });
      expect(filesWithMark(sandbox.state)).not.toEqual([]);

      await callApi(connection, { method: "DELETE", path });
      await server.stop();

      expect(filesWithMark(sandbox.state)).toEqual([]);
    } finally {
      await sandbox.close();
    }
  },
  SECONDS,
);
