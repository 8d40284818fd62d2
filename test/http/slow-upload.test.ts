/** An upload that takes too long ends before the tenant's object takes it for cut off, so that no bytes arrive for a file that was given up. */
import { expect, test } from "vitest";
import type { FileStore } from "../../src/app/file-api";
import { err, ok } from "../../src/lib/result";
import { FakeSchedule } from "../support/fake-schedule";
import { KEY, readProblem, world } from "./support";

const HALF_HOUR = 30 * 60 * 1_000;
const head = new TextEncoder().encode("%PDF-1.7\n".padEnd(2_000));

function uploading() {
  const clock = new FakeSchedule();
  const armed = Promise.withResolvers<void>();
  const schedule: FakeSchedule["schedule"] = (ms, work) => {
    armed.resolve();
    return clock.schedule(ms, work);
  };
  const begun = Promise.withResolvers<void>();
  const abandoned: string[] = [];
  const stored: number[] = [];
  const put: FileStore["put"] = async (_, { body }) => {
    begun.resolve();
    let bytes = 0;
    try {
      for await (const part of body) bytes += part.byteLength;
    } catch {
      return err("cut_off");
    }
    stored.push(bytes);
    return ok({ sha256: "ab", tokens: 1 });
  };
  const store: FileStore = { put, open: async () => null, has: async () => false, read: async () => null, remove: async () => {} };
  const { app } = world({
    deps: { files: () => store, schedule },
    tenant: { abandonFile: async (file) => ok(void abandoned.push(file) as never) },
  });
  const body = new TransformStream<Uint8Array, Uint8Array>();
  const writer = body.writable.getWriter();
  // Node's own Request wants to be told that the answer comes after the body. The types are those of workerd.
  const init = {
    method: "POST",
    headers: { authorization: `Bearer ${KEY}`, "content-length": "5000" },
    body: body.readable,
    duplex: "half",
  };
  const answer = Promise.resolve(app.request(new Request("https://longhand.test/v1/files", init)));
  return { clock, armed: armed.promise, begun: begun.promise, abandoned, stored, writer, answer };
}

test("a client that sends slowly is answered 408 after half an hour, and its upload is given up", async () => {
  const { clock, begun, abandoned, stored, writer, answer } = uploading();
  await writer.write(head);
  await begun;

  clock.advance(HALF_HOUR);

  const response = await answer;
  expect([response.status, (await readProblem(response)).type]).toEqual([408, "urn:longhand:problem:upload_too_slow"]);
  expect([abandoned.length, stored]).toEqual([1, []]);
});

test("a client that sends nothing at all is answered as well, and nothing was begun", async () => {
  const { clock, armed, abandoned, answer } = uploading();
  await armed;

  clock.advance(HALF_HOUR);

  expect([(await answer).status, abandoned]).toEqual([408, []]);
});
