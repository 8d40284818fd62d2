/** `npm run demo -- --bot`: a conversation with a bot on the stand-in of Telegram. Each line is what people see there, or a call that was made. */
import type { Person, Seen } from "../../test/support/stand-in/telegram/chats.ts";
import { Failure } from "../support/output.ts";
import type { BotScene } from "./bot-scene.ts";
import { type Line, labelled, span } from "./line.ts";

const HELLO = "Hello **Ada**! Ask me about `tea`, [brewing](https://example.com/brewing) or <anything> else.";
const STEPS = 120;
const LONG = [
  "# Brewing tea",
  ...Array.from({ length: STEPS }, (_, n) => `${n + 1}. Step ${n + 1}: warm the pot, and wait for a while.`),
  "",
  "That is all.",
].join("\n");
const LAST = "You asked how to brew tea.";

export interface BotDemo {
  readonly scene: BotScene;
  readonly show: (line: Line) => void;
}

/** Throws a `Failure` when people do not see what they should. */
export async function playBot({ scene, show }: BotDemo): Promise<void> {
  const { telegram, provider } = scene;
  const ada = telegram.addPerson("Ada");
  const demo = { scene, show, ada };
  show([span(" Longhand", "title"), span("  a bot on a stand-in of Telegram, with the Bot API over HTTP", "quiet")]);
  show([]);
  provider.enqueue({ text: HELLO }, { text: LONG }, { text: LAST });
  await say(demo, "/start");
  const first = await say(demo, "Hello");
  await deliverAgain(demo, first);
  show([]);
  await say(demo, "How do I brew tea?");
  show([]);
  await say(demo, "What did I ask?");
  if (!readReplies(demo).at(-1)?.text.includes(LAST)) throw new Failure("The last reply is not there.");
}

interface Scene extends BotDemo {
  readonly ada: Person;
}

const readReplies = ({ scene, ada }: Scene): readonly Seen[] => scene.telegram.seen(ada).filter(({ from }) => from.is_bot);

/** Writes, and shows what comes back until the bot has asked for no more. */
async function say(demo: Scene, text: string): Promise<{ readonly update_id: number }> {
  const { scene, show, ada } = demo;
  const known = readReplies(demo).length;
  show(labelled("Ada", "user", span(text)));
  const update = scene.telegram.say({ from: ada, text });
  await scene.telegram.until(() => isWhole(readReplies(demo).slice(known)));
  for (const seen of readReplies(demo).slice(known)) showReply(demo, seen);
  return update;
}

/** The long reply ends with its last line. */
function isWhole(replies: readonly Seen[]): boolean {
  const text = replies.map((seen) => seen.text).join("\n");
  return text !== "" && (!text.startsWith("Brewing tea") || text.endsWith("That is all."));
}

function showReply({ show }: Scene, { text, entities, edits }: Seen): void {
  const lines = text.split("\n");
  show(labelled("bot", "model", span(lines[0] ?? "")));
  if (lines.length > 1) show(labelled("", "model", span(`… ${lines.length - 2} lines …`, "quiet"), span(` ${lines.at(-1) ?? ""}`)));
  const kinds = [...new Set(entities.map(({ type }) => type))];
  const marks = kinds.length > 0 ? `, with ${kinds.join(", ")}` : "";
  show(
    labelled(
      "",
      "quiet",
      span(`${text.length.toLocaleString("en-US")} UTF-16 units${marks}${edits > 0 ? "; it grew while it was written" : ""}`, "quiet"),
    ),
  );
}

async function deliverAgain(demo: Scene, update: { readonly update_id: number }): Promise<void> {
  const { scene, show } = demo;
  const known = readReplies(demo).length;
  const asked = scene.provider.log.length;
  const status = await scene.telegram.updates.post(update);
  if (status !== 200) throw new Failure(`The update that was delivered again is answered with ${status}.`);
  if (readReplies(demo).length !== known || scene.provider.log.length !== asked) throw new Failure("An update was answered twice.");
  show(labelled("again", "quiet", span(`Telegram delivers update ${update.update_id} again: 200, and no second answer`)));
}
