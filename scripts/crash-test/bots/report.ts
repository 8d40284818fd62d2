/** Prints what a run of the bots came to, and says what is wrong. */
import { print, say } from "../../support/output.ts";
import { judgeBots } from "./judge.ts";
import type { BotOptions, BotRun } from "./perform.ts";

const MOST_FAULTS = 40;

/** Whether nothing is wrong. */
export function reportBots({ planned, courier, waiting, evidence }: BotRun, { kills }: BotOptions, wall: number): boolean {
  const verdict = judgeBots({ ...evidence, planned, traces: courier.traces });
  const { lost, doubled, reordered, other } = verdict;
  const doubts = [...verdict.doubts.values()].reduce((sum, each) => sum + each, 0);
  const of = [...verdict.doubts].map(([platform, count]) => `${platform} ${count}`).join(", ");
  const refused = [...courier.refusals].map(([status, text]) => `a delivery was refused with ${status}: ${text}`);
  const idle = kills > 0 && courier.heard <= planned.length ? ["no delivery came twice: nothing was tested"] : [];
  const proven = (verdict.doubts.get("generic") ?? 0) > 0 ? ["a reply to a system that recognises repetitions is in doubt"] : [];
  const unfinished = waiting > 0 ? [`${waiting} rows still wait in the chats' objects`] : [];
  const faults = [...lost, ...doubled, ...reordered, ...other, ...refused, ...idle, ...proven, ...unfinished];
  print(
    [
      `deliveries    ${planned.length}`,
      `posts         ${courier.posts}, of which ${courier.heard} were answered`,
      `kills         ${kills}`,
      `turns         ${verdict.turns}`,
      `replies       ${verdict.replies}`,
      `cut off       ${verdict.failed} by a kill, which people are told`,
      `in doubt      ${doubts}${of === "" ? "" : ` (${of})`}, of which ${verdict.doubtsMissing} are not there as a whole`,
      `lost          ${lost.length}`,
      `doubled       ${doubled.length}`,
      `out of order  ${reordered.length}`,
      `wrong         ${faults.length}`,
      `wall time     ${(wall / 1_000).toFixed(1)} s`,
    ].join("\n"),
  );
  for (const fault of faults.slice(0, MOST_FAULTS)) say(`wrong: ${fault}`);
  return faults.length === 0;
}
