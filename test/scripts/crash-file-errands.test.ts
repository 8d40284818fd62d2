/** The crash test's verdict on files, and its comparison of the bucket with the entries. */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, onTestFinished, test } from "vitest";
import { type FileUseEvidence, faultsOfUsedFiles, readBucket } from "../../scripts/crash-test/file-errands";

const kept: FileUseEvidence = { file: "fil_1", end: "keep", status: 200, isWhole: true };
const deleted: FileUseEvidence = { file: "fil_2", end: "delete", status: 404, isWhole: false };
const clean = { unnamed: [], empty: [] };

describe("the verdict on files", () => {
  test("is clean when kept files are whole and removed ones are gone", () => {
    expect(faultsOfUsedFiles([kept, deleted], clean)).toEqual([]);
  });

  test.each<[string, readonly FileUseEvidence[], typeof clean | Record<string, string[]>, RegExp]>([
    ["a kept file is lost", [{ ...kept, status: 404, isWhole: false }, deleted], clean, /a kept file is answered 404.*fil_1/],
    ["a kept file has other bytes", [{ ...kept, isWhole: false }, deleted], clean, /or with other bytes: fil_1/],
    ["a deleted file can be read", [kept, { ...deleted, status: 200 }], clean, /\(delete\) is answered 200: fil_2/],
    ["the bucket holds more than the entries", [kept, deleted], { ...clean, unnamed: ["fil_3"] }, /no entry names: fil_3/],
    ["an entry has no bytes", [kept, deleted], { ...clean, empty: ["fil_4"] }, /has no bytes: fil_4/],
    ["no file was kept", [deleted], clean, /no file was kept/],
    ["no file was removed", [kept], clean, /no file was removed/],
  ])("says so when %s", (_, files, bucket, fault) => {
    expect(faultsOfUsedFiles(files, { ...clean, ...bucket })).toEqual([expect.stringMatching(fault)]);
  });
});

test("the bucket is compared with the entries of all tenants; entries that are still uploading or being removed may have bytes or not", () => {
  const state = mkdtempSync(join(tmpdir(), "longhand-bucket-"));
  onTestFinished(() => rmSync(state, { recursive: true, force: true }));
  const write = (folder: string, name: string, statements: string): void => {
    mkdirSync(join(state, "v3", folder), { recursive: true });
    const database = new DatabaseSync(join(state, "v3", folder, name));
    database.exec(statements);
    database.close();
  };
  write(
    "r2",
    "one.sqlite",
    "CREATE TABLE _mf_objects (key); INSERT INTO _mf_objects VALUES ('ten_1/fil_1'), ('ten_1/fil_2'), ('ten_2/fil_9')",
  );
  write(
    "do",
    "one.sqlite",
    "CREATE TABLE files (id, state); INSERT INTO files VALUES ('fil_1', 'stored'), ('fil_2', 'removed'), ('fil_3', 'uploading')",
  );
  write("do", "two.sqlite", "CREATE TABLE files (id, state); INSERT INTO files VALUES ('fil_4', 'stored')");
  write("do", "session.sqlite", "CREATE TABLE bodies (text)");

  expect(readBucket(state)).toEqual({ unnamed: ["fil_9"], empty: ["fil_4"] });
});
