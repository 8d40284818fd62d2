import { policyChoiceSchema } from "../../context/policy-choice";

export const policyChoiceInput = policyChoiceSchema;
/** The choice: a preset's name, or an object with the values that differ. */
const policyChoiceView = policyChoiceSchema;
