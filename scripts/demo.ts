/**
 * `npm run demo`: a conversation that outgrows its window, through the real backend in its own sandbox, with the
 * embedded model. It needs no account and no key. It prints a transcript of at most forty lines. With `--svg` it also
 * draws the transcript as an animated picture. With `--bot` it is a bot's conversation on a stand-in of Telegram.
 */
import { writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { z } from "zod";
import { openBotScene } from "./demo/bot-scene.ts";
import { type Line, toColouredText, toPlainText } from "./demo/line.ts";
import { drawPicture } from "./demo/picture.ts";
import { MODEL, playDemo, WINDOW } from "./demo/play.ts";
import { playBot } from "./demo/play-bot.ts";
import { startBackend } from "./support/backend.ts";
import { showsColours } from "./support/colour.ts";
import { readCommandLine } from "./support/command-line.ts";
import { print, runScript, say } from "./support/output.ts";
import { useUntilStopped } from "./support/stop-signal.ts";

const USAGE = `Usage: npm run demo -- [options]
  --color     colours, wherever the output goes (by default in a terminal, unless NO_COLOR is set)
  --svg FILE  draws the transcript of this run as an animated SVG, too
  --bot       a bot instead, on a stand-in of Telegram: an update that is delivered again, and a long reply`;

const MODELS = JSON.stringify({ [MODEL]: { provider: "embedded", upstream_id: "embedded", context_window: WINDOW, max_output: 256 } });

async function record(show: (line: Line) => void, isBot: boolean): Promise<readonly Line[]> {
  const lines: Line[] = [];
  const keep = (line: Line): void => {
    lines.push(line);
    show(line);
  };
  if (isBot) await useUntilStopped(openBotScene, (scene) => playBot({ scene, show: keep }));
  else await recordWindow(keep);
  return lines;
}

async function recordWindow(show: (line: Line) => void): Promise<void> {
  await useUntilStopped(
    () => startBackend({ MODELS }),
    ({ connection }) => playDemo({ connection, show }),
  );
}

async function main(): Promise<number> {
  const { color, svg, bot } = readCommandLine(process.argv.slice(2), {
    usage: USAGE,
    options: { color: { type: "boolean", default: false }, svg: { type: "string" }, bot: { type: "boolean", default: false } },
    schema: z.object({
      files: z.array(z.string()).length(0, "npm run demo takes options only."),
      color: z.boolean(),
      bot: z.boolean(),
      svg: z.string().min(1, "must name a file").optional(),
    }),
  });
  const toText = color || showsColours() ? toColouredText : toPlainText;
  const lines = await record((line) => print(toText(line)), bot);
  if (svg !== undefined) {
    writeFileSync(resolve(process.env.INIT_CWD ?? ".", svg), drawPicture(lines));
    say(`The picture is in ${svg}.`);
  }
  return 0;
}

await runScript(main);
