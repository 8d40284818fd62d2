import { expect, test } from "vitest";
import { z } from "zod";
import { readCommandLine } from "../../scripts/support/command-line";

const line = {
  usage: "Usage: npm start",
  options: {},
  schema: z.object({ files: z.array(z.string()).length(0, "It takes no arguments.") }),
};

test("a command that takes no arguments says which ones it was given, such as the words of a pasted comment", () => {
  expect(() => readCommandLine(["#", "installs", "what", "is", "missing"], line)).toThrow(
    "It takes no arguments. It was given: # installs what is missing\n\nUsage: npm start",
  );
  expect(readCommandLine([], line)).toEqual({ files: [] });
});
