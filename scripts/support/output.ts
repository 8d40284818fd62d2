/** The output of scripts: results on stdout, everything else on stderr. */

export const print = (text: string): void => void process.stdout.write(`${text}\n`);
export const say = (text: string): void => void process.stderr.write(`${text}\n`);

/** A failure that its message explains. It is shown without a stack, with exit code 1. */
export class Failure extends Error {}

/** A requested usage. It is shown on stdout, with exit code 0. */
export class Help extends Error {}

/** Runs a script and returns its exit code, or 1 with the error's message. */
export async function runScript(main: () => Promise<number>): Promise<never> {
  try {
    process.exit(await main());
  } catch (error) {
    if (error instanceof Help) {
      print(error.message);
      process.exit(0);
    }
    say(error instanceof Failure ? error.message : error instanceof Error && error.stack ? error.stack : String(error));
    process.exit(1);
  }
}
