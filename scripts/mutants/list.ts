/** All deliberate breakages (`mutant`), by subject. */
import { adapters } from "./adapters.ts";
import { audit } from "./audit.ts";
import { branches } from "./branches.ts";
import { budgets } from "./budgets.ts";
import { chats } from "./chats.ts";
import { choices } from "./choices.ts";
import { drafts } from "./drafts.ts";
import { failures } from "./failures.ts";
import { fencing } from "./fencing.ts";
import { files } from "./files.ts";
import { keys } from "./keys.ts";
import { ledger } from "./ledger.ts";
import { life } from "./life.ts";
import { limits } from "./limits.ts";
import { lookUps } from "./look-ups.ts";
import { moves } from "./moves.ts";
import type { Mutant } from "./mutant.ts";
import { past } from "./past.ts";
import { providers } from "./providers.ts";
import { reach } from "./reach.ts";
import { respond } from "./respond.ts";
import { retention } from "./retention.ts";
import { room } from "./room.ts";
import { scrub } from "./scrub.ts";
import { summaries } from "./summaries.ts";
import { surfaces } from "./surfaces.ts";
import { tools } from "./tools.ts";
import { transfer } from "./transfer.ts";
import { view } from "./view.ts";
import { webhooks } from "./webhooks.ts";

export const MUTANTS: readonly Mutant[] = [
  ...fencing,
  ...view,
  ...webhooks,
  ...scrub,
  ...summaries,
  ...drafts,
  ...life,
  ...lookUps,
  ...transfer,
  ...moves,
  ...room,
  ...ledger,
  ...limits,
  ...keys,
  ...providers,
  ...adapters,
  ...failures,
  ...tools,
  ...reach,
  ...past,
  ...branches,
  ...budgets,
  ...files,
  ...retention,
  ...choices,
  ...respond,
  ...surfaces,
  ...audit,
  ...chats,
];
