/** The remains of an erased session, or of a redacted message, on disk: the files of a real server, read as bytes. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { z } from "zod";
import { type Connection, callApi } from "../../../scripts/support/api-client";
import { createTenant } from "../../../scripts/support/connection";
import { createSandbox } from "../../../scripts/support/sandbox";

const MARK = "unforgettable-zanzibar";
const SECONDS = 60_000;

/** The objects' files that contain the mark, including write-ahead logs. */
function filesWithMark(state: string, mark = MARK): string[] {
  const objects = join(state, "v3", "do");
  const files = readdirSync(objects, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files.map((file) => join(file.parentPath, file.name)).filter((path) => readFileSync(path).includes(mark));
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

test(
  "the objects' files hold nothing of an end user who was erased, neither texts nor the name, and keep what others said",
  async () => {
    const sandbox = await createSandbox();
    try {
      const server = await sandbox.start();
      const connection = await createTenant(server.url, sandbox.adminKey);
      const open = async (end_user: string, text: string) => {
        const opened = await post(connection, "/v1/sessions", { end_user, title: `${text}-title` });
        const path = `/v1/sessions/${z.object({ id: z.string() }).parse(opened).id}`;
        await post(connection, `${path}/messages`, { content: `${text}-message ${"more text ".repeat(500)}` });
        return path;
      };
      const name = `${MARK}-ada`;
      await post(connection, `${await open(name, MARK)}/fork`, {});
      await open(name, MARK);
      await open("eve", "remember-kilimanjaro");
      expect(filesWithMark(sandbox.state)).not.toEqual([]);

      await callApi(connection, { method: "DELETE", path: `/v1/end-users/${name}` });
      await server.stop();

      expect(filesWithMark(sandbox.state)).toEqual([]);
      expect(filesWithMark(sandbox.state, "remember-kilimanjaro")).not.toEqual([]);
    } finally {
      await sandbox.close();
    }
  },
  SECONDS,
);

test(
  "the object's files hold nothing of a redacted message, neither its text nor the terms that it is found by, and keep what is around it",
  async () => {
    const sandbox = await createSandbox();
    try {
      const server = await sandbox.start();
      const connection = await createTenant(server.url, sandbox.adminKey);
      const opened = await post(connection, "/v1/sessions", {});
      const path = `/v1/sessions/${z.object({ id: z.string() }).parse(opened).id}`;
      const say = async (content: string) =>
        z.object({ message_id: z.string() }).parse(await post(connection, `${path}/messages`, { content, role: "user", run: false }))
          .message_id;
      await say("the parrots are called Ada and Grace");
      const short = await say(`${MARK}-message`);
      const long = await say(`${MARK}-message ${`${MARK} more text `.repeat(2_000)}`);
      await say("remember-kilimanjaro");
      await callApi(connection, { method: "GET", path: `${path}/recall?q=zanzibar` });
      const redacted = async () => {
        for (const id of [short, long]) await post(connection, `${path}/messages/${id}/redact`, {});
      };
      expect([filesWithMark(sandbox.state), filesWithMark(sandbox.state, "zanzibar")].map((files) => files.length > 0)).toEqual([
        true,
        true,
      ]);

      await redacted();

      expect([filesWithMark(sandbox.state), filesWithMark(sandbox.state, "zanzibar")]).toEqual([[], []]);
      expect(filesWithMark(sandbox.state, "remember-kilimanjaro")).not.toEqual([]);
      await server.stop();
      expect(filesWithMark(sandbox.state, "zanzibar")).toEqual([]);
    } finally {
      await sandbox.close();
    }
  },
  SECONDS,
);
