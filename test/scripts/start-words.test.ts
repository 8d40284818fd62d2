/** What stops a start is said in a sentence, with what to do. */
import { once } from "node:events";
import { createServer } from "node:net";
import { expect, test } from "vitest";
import { explainReadOnly } from "../../scripts/support/disk-room";
import { Failure } from "../../scripts/support/output";
import { findFreeBeside, findFreePort, HOST, portError } from "../../scripts/support/port";

test("a busy port is told with one that is free, also where the next one is busy, too", async () => {
  const port = await findFreePort();
  const next = createServer().listen(port + 1, HOST);
  await once(next, "listening");
  const free = await findFreeBeside(port);
  expect(free).not.toBe(port + 1);
  expect(await portError(free)).toBeNull();
  next.close();
});

test.each([
  "EROFS: read-only file system, mkdir '/x/.longhand'",
  "EACCES: permission denied, open '/x/.longhand/server.lock'",
  "attempt to write a readonly database",
])("a folder that cannot be written is named, and what to do: %s", (message) => {
  const explained = explainReadOnly(new Error(message), "/x");
  expect(explained).toBeInstanceOf(Failure);
  expect(String(explained)).toContain("The folder /x cannot be written.");
});

test("no other error is taken for it", () => {
  const [other, said] = [new Error("no such table"), new Failure("Port 80 cannot be used (EACCES).")];
  expect([explainReadOnly(other, "/x"), explainReadOnly(said, "/x")]).toEqual([other, said]);
});
