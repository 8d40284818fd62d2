import { type SlackMishap, type SlackStandIn, startSlack } from "../../support/stand-in/slack/slack";
import type { ChannelDriver, ContractPlatform, SendTrouble } from "./driver";

const TROUBLES: Readonly<Record<SendTrouble, SlackMishap>> = {
  limit: { type: "limit", seconds: 2 },
  broken: { type: "error", error: "service_unavailable", status: 503 },
  refuse: { type: "error", error: "is_archived" },
  lose_answer: { type: "lose_answer" },
};
const USERS = { asker: "U0ADA", other: "U0BEN" } as const;

/** `setClock`: moves the clock that the stand-in was started with. */
export function toSlackPlatform(slack: SlackStandIn, setClock: (aheadMs: number) => void = () => undefined): ContractPlatform {
  let channels = 0;
  return {
    credentials: { signing_secret: slack.signingSecret, bot_token: slack.token, api_url: slack.apiUrl },
    receiveAt: (url) => slack.receiveAt(url),
    open: (kind) => {
      const channel = `${kind === "private" ? "D" : "C"}${++channels}`;
      slack.addChannel({ id: channel });
      return {
        say: async ({ text, by = "asker", file, isAside }) => {
          const files = file ? [slack.addFile(file.name, file.type, file.bytes)] : [];
          const typed = kind === "private" || isAside ? text : `@bot ${text}`;
          return (await slack.say({ channel, user: USERS[by], text: typed, files })).ts;
        },
        command: (name) => slack.slash(channel, USERS.asker, `/ask ${name}`),
        replies: () =>
          slack
            .seen(channel)
            .filter(({ user }) => user === slack.bot)
            .map(({ ts, text, blocks, edits }) => ({
              id: ts,
              text,
              edits,
              buttons: blocks.flatMap((block) => (block.type === "actions" ? block.elements.map((button) => button.text.text) : [])),
            })),
        press: ({ id }, label, by) => slack.press(channel, USERS[by], { ts: id, label }),
        edit: (ts, text) => slack.edit(channel, ts, text),
        delete: (ts) => slack.delete(channel, ts),
      };
    },
    verifyAddress: () => slack.verifyUrl("3eZbrw1aBm2rZgRNFdxV2595E9CY3gmdALWMmHkvFXO7tYXAYM8P"),
    trouble: (trouble) => slack.mishap(TROUBLES[trouble]),
    setClock,
    close: () => slack.close(),
  };
}

export const slackDriver: ChannelDriver = {
  type: "slack",
  can: {
    groups: true,
    overhear: true,
    reportEdits: true,
    reportDeletions: true,
    growReplies: true,
    recogniseRepetitions: false,
    redeliver: true,
    checkAddress: true,
  },
  signature: { header: "x-slack-signature", wrong: `v0=${"0".repeat(64)}`, isTimed: true },
  deadlineMs: 3_000,
  longest: 3_000,
  limitMs: 2_000,
  shown: "*bold* &amp; 1 &lt; 2",
  start: async () => {
    let ahead = 0;
    const slack = await startSlack({ now: () => Date.now() + ahead });
    const setClock = (aheadMs: number): void => {
      ahead = aheadMs;
    };
    return toSlackPlatform(slack, setClock);
  },
};
