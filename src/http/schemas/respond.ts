/** Everything that one request adds, as clients write it. */
import { z } from "@hono/zod-openapi";
import type { RespondInput } from "../../app/respond-api";
import { id } from "../../contract/ids";
import { toTurnInput, turnChoices } from "./generation";
import { toWritten, writtenMessages } from "./message";
import { toolResultList, toolsInput, toToolResult } from "./tool";

const fields = z.strictObject({
  after: id("trn").nullable().optional().openapi({
    description:
      "The turn that the request continues, of any branch. A turn that others follow starts a branch. Without it: the newest place of the current branch",
  }),
  results: toolResultList.optional().openapi({ description: "Results of the open turn's calls. They are recorded before the messages" }),
  messages: writtenMessages.optional().openapi({
    description:
      "In order. With run a last one of a user starts the turn, and those before it are appended. Where they end with another message, all are appended, and the turn answers the conversation as it is then",
  }),
  run: z.boolean().optional().openapi({
    description: "By default true. false: no turn starts or goes on, and a turn whose last call is answered ends",
  }),
  on_busy: z.enum(["queue", "reject", "interrupt"]).optional().openapi({
    description:
      "Of a single user message without after and results: what it does while a turn runs (queue). All other requests are refused then",
  }),
  tools: toolsInput.nullable().optional().openapi({
    description: "For the turn only, in place of the session's. [] offers none; null: the session's",
  }),
  ...turnChoices,
});
type Fields = z.infer<typeof fields>;

const isRun = ({ run = true }: Fields): boolean => run;
const isChosen = (value: unknown): boolean => value !== undefined && value !== null;
const CHOICES = ["tools", "generation", "model", "system", "note"] as const;

const isLone = ({ after, results = [], messages: [message, ...more] = [] }: Fields): boolean =>
  !after && results.length === 0 && message?.role === "user" && more.length === 0;

export const respondInput = fields
  .superRefine((input, context) => {
    const refuse = (field: string, message: string): void => context.addIssue({ code: "custom", path: [field], message });
    for (const name of CHOICES) if (!isRun(input) && isChosen(input[name])) refuse(name, "only with run: true");
    if (input.on_busy && !(isLone(input) && isRun(input)))
      refuse("on_busy", "only of a single user message without after and results, with run: true");
  })
  .openapi("Respond");

export function toRespondInput(
  input: Fields,
  { messages, tools, idempotency }: Pick<RespondInput, "tools" | "idempotency"> & { readonly messages: NonNullable<Fields["messages"]> },
): RespondInput {
  const { after = null, results = [], on_busy } = input;
  const run = isRun(input);
  const last = run ? messages.length - 1 : null;
  return {
    after,
    results: results.map(toToolResult),
    messages: messages.map((message, index) => toWritten(message, index === last && message.role === "user")),
    run,
    tools,
    idempotency,
    ...(on_busy && { onBusy: on_busy }),
    ...toTurnInput(input),
  };
}
