/** Refusals of what no budget of the tenant pays for: part of the table in `problem`. */
import type { ExhaustedBudget } from "../app/budget-ports";
import { type RouteAnswer, retryLater } from "./answer";

const OWNERS: { readonly [Of in ExhaustedBudget["of"]]: string } = {
  tenant: "the tenant",
  end_user: "the end user",
  session: "the session",
};

const show = (unit: ExhaustedBudget["unit"], amount: number): string => (unit === "usd" ? `$${amount}` : `${amount} tokens`);

function refuse({ budget, of, unit, amount, spent, reserved, resets_at }: ExhaustedBudget): RouteAnswer {
  const figures = `${show(unit, spent)} are spent and ${show(unit, reserved)} reserved of ${show(unit, amount)}`;
  const until = new Date(resets_at).toISOString();
  return {
    status: 402,
    title: "Budget exhausted",
    detail: `The budget ${budget} of ${OWNERS[of]} has too little left for the model's next call: ${figures}. It begins again at ${until}.`,
    extra: { budget, of, unit, amount, spent, reserved, resets_at },
  };
}

export const budgetAnswers = {
  budget_exhausted: refuse,
  budgets_unavailable: (): RouteAnswer => retryLater("The tenant's budgets cannot be read at the moment; nothing was changed."),
};
