/** What a request whose messages name files asks of the tenant's object, and in which order. */
import { expect, test } from "vitest";
import type { FileUse } from "../../src/app/file-api";
import { parseId } from "../../src/domain/ids";
import { err, ok } from "../../src/lib/result";
import { makeId, principal, readProblem, SESSION, world } from "./support";

const base = `/v1/sessions/${SESSION}`;
const toFacts = (file: string) => {
  const file_id = parseId("fil", file);
  if (!file_id) throw new Error("not the id of a file");
  return { file_id, name: null, media_type: "image/png", bytes: 10, tokens: 1_600 };
};

function counting({ missing = "", ...input }: Partial<Parameters<typeof world>[0]> & { missing?: string } = {}) {
  const asked: FileUse[] = [];
  const imported: number[] = [];
  const made = world({
    ...input,
    tenant: {
      useFiles: async (use) => {
        asked.push(use);
        return use.files.includes(toFacts(makeId("fil", 999)).file_id)
          ? err({ code: "file_not_found", file: missing })
          : ok(use.files.map(toFacts));
      },
    },
    session: {
      importMessages: async (_, { messages }) => {
        imported.push(messages.length);
        return ok({ data: [], cursor: 1, replayed: false });
      },
    },
  });
  return { ...made, asked, imported };
}

test("a batch of 1,000 messages that name files asks once, for each file once", async () => {
  const { call, asked, imported } = counting();
  const items = Array.from({ length: 1_000 }, (_, index) => ({ content: [{ type: "image", file_id: makeId("fil", index % 700) }] }));

  expect((await call("POST", `${base}/messages/batch`, { body: { items } })).status).toBe(201);

  expect(asked.map(({ files, ...rest }) => [files.length, new Set(files).size, rest])).toEqual([[700, 700, { session: SESSION }]]);
  expect(imported).toEqual([1_000]);
});

test("a batch without files asks nothing", async () => {
  const { call, asked } = counting();
  await call("POST", `${base}/messages/batch`, { body: { items: [{ content: "a" }, { content: [{ type: "text", text: "b" }] }] } });
  expect(asked).toEqual([]);
});

test("the message at fault is named, and nothing is imported", async () => {
  const missing = makeId("fil", 999);
  const { call, imported } = counting({ missing });
  const items = [
    { content: "a" },
    {
      content: [
        { type: "text", text: "b" },
        { type: "file", file_id: missing },
      ],
    },
  ];

  const problem = await readProblem(await call("POST", `${base}/messages/batch`, { body: { items } }));

  expect(problem.errors).toEqual([{ field: "items.1.content.1.file_id", detail: "no such file" }]);
  expect(imported).toEqual([]);
});

test("an access token asks for files of its session only", async () => {
  const token = { ...principal(), access_token: { id: makeId("tok", 1), reach: { session: SESSION } } };
  const { call, asked } = counting({ principal: token });

  await call("POST", `${base}/messages`, { body: { content: [{ type: "image", file_id: makeId("fil", 1) }] } });

  expect(asked).toEqual([{ session: SESSION, files: [makeId("fil", 1)], sessionsOnly: true }]);
});
