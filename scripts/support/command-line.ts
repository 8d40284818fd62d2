/** Options of a command line, checked: whatever is wrong is a `Failure` that shows the usage. */
import { type ParseArgsOptionsConfig, parseArgs } from "node:util";
import { z } from "zod";
import { Failure } from "./output.ts";

export interface CommandLine<Shape extends z.ZodRawShape> {
  readonly usage: string;
  readonly options: ParseArgsOptionsConfig;
  /** What the options must be; positionals are under `files`. */
  readonly schema: z.ZodObject<Shape>;
}

export function readCommandLine<Shape extends z.ZodRawShape>(
  args: readonly string[],
  line: CommandLine<Shape>,
): z.infer<z.ZodObject<Shape>> {
  const given = parse(args, line);
  const checked = line.schema.safeParse(given);
  if (checked.success) return checked.data;
  const [issue] = checked.error.issues;
  throw new Failure(`${issue?.path.join(".") ?? "options"}: ${issue?.message ?? "invalid"}\n${line.usage}`);
}

function parse(
  args: readonly string[],
  { options, usage }: Pick<CommandLine<z.ZodRawShape>, "options" | "usage">,
): Record<string, unknown> {
  try {
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true, strict: true });
    return { ...values, files: positionals };
  } catch (error) {
    throw new Failure(`${error instanceof Error ? error.message : String(error)}\n${usage}`);
  }
}

/** A whole number as a command line spells it. */
export const wholeNumber = (least: number, most: number): z.ZodPipe<z.ZodString, z.ZodTransform<number, string>> =>
  z
    .string()
    .regex(/^\d+$/, "must be a whole number")
    .transform((text, context) => {
      const value = Number(text);
      if (value < least || value > most) context.addIssue({ code: "custom", message: `must be from ${least} to ${most}` });
      return value;
    });
