/** Checked options of a command line. An invalid option is a `Failure` with the usage, which `--help` shows alone. */
import { type ParseArgsOptionsConfig, parseArgs } from "node:util";
import { z } from "zod";
import { Failure, Help } from "./output.ts";

export interface CommandLine<Shape extends z.ZodRawShape> {
  readonly usage: string;
  readonly options: ParseArgsOptionsConfig;
  /** The schema of the options. Positional arguments are in `files`. */
  readonly schema: z.ZodObject<Shape>;
}

export function readCommandLine<Shape extends z.ZodRawShape>(
  args: readonly string[],
  line: CommandLine<Shape>,
): z.infer<z.ZodObject<Shape>> {
  if (args.includes("--help") || args.includes("-h")) throw new Help(line.usage);
  const given = parse(args, line);
  const checked = line.schema.safeParse(given);
  if (checked.success) return checked.data;
  const [issue] = checked.error.issues;
  const [name = "files"] = issue?.path ?? [];
  const message = issue?.message ?? "invalid";
  if (name !== "files") throw new Failure(`--${String(name)} ${message}\n\n${line.usage}`);
  throw new Failure(`${message}${given.files.length > 0 ? ` It was given: ${given.files.join(" ")}` : ""}\n\n${line.usage}`);
}

function parse(
  args: readonly string[],
  { options, usage }: Pick<CommandLine<z.ZodRawShape>, "options" | "usage">,
): Record<string, unknown> & { readonly files: readonly string[] } {
  try {
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true, strict: true });
    return { ...values, files: positionals };
  } catch (error) {
    // The error's second sentence explains how to pass a file whose name looks like an option.
    const [what] = (error instanceof Error ? error.message : String(error)).split(". ");
    throw new Failure(`${what}\n\n${usage}`);
  }
}

/** A whole number on a command line. */
export const wholeNumber = (least: number, most: number): z.ZodPipe<z.ZodString, z.ZodTransform<number, string>> =>
  z
    .string()
    .regex(/^\d+$/, "must be a whole number")
    .transform((text, context) => {
      const value = Number(text);
      if (value < least || value > most) context.addIssue({ code: "custom", message: `must be from ${least} to ${most}` });
      return value;
    });
