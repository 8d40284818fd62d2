import type { EndUserSummary, EndUserView } from "../../contract/end-user";
import { usageSumsExample } from "./conversation";
import { limitUseExample } from "./limits";
import { AT, SECOND } from "./shared";

export const endUserSummaryExample: EndUserSummary = { end_user: "user-42", sessions: 3, last_used_at: AT };

export const endUserExample: EndUserView = {
  ...endUserSummaryExample,
  usage: { from: AT - 86_400 * SECOND, to: AT, ...usageSumsExample },
  limits: [{ ...limitUseExample, of: "end_user" }],
  links: { sessions: "/v1/sessions?end_user=user-42", usage: "/v1/usage?end_user=user-42&group_by=day" },
};
