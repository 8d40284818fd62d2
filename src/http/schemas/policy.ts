import { policySchema } from "../../context/policy";
import { policyChoiceSchema } from "../../context/policy-choice";

export const policyChoiceInput = policyChoiceSchema;
/** The choice: a preset's name, or an object with the values that differ. */
export const policyChoiceView = policyChoiceSchema;
/** All values of a policy. */
export const policyView = policySchema;
