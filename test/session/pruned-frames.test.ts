/** Frames of a live stream that were pruned, and those that a redaction deletes: the files of the object keep none of either. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { migrateSession } from "../../src/session/log/log-schema";
import { beginDeletion, remakeIndex } from "../../src/session/log/recall-tables";
import { StoredFrames } from "../../src/session/stream/stored-frames";
import { toMark } from "../support/marks";
import { type ObjectFiles, openObjectFiles } from "../support/object-files";

let files: ObjectFiles;
beforeEach(() => {
  files = openObjectFiles();
});
afterEach(() => files.remove());

test.each([2_000, 60_000, 200_000])("in packs of %i characters", async (length) => {
  migrateSession(files.session);
  const frames = new StoredFrames(files.session);
  for (let offset = 1; offset <= 300; offset++) {
    const text = `${toMark(offset)} ${"x".repeat(length)}`;
    frames.insert([{ offset, type: "delta", turn: "", json: JSON.stringify({ text }) }], 1);
    if (offset % 50 === 0) frames.prune(150);
  }

  files.session.transaction(() => {
    const used = beginDeletion(files.session);
    remakeIndex(files.session, used);
    frames.deleteTo(300);
  });
  await files.scrub();

  expect(files.findMarks()).toEqual([]);
});
