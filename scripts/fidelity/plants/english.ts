import type { Plants } from "./plant.ts";

export const english: Plants = {
  instruction: [
    { says: "From now on, put the reference {v} on every letter to {n}.", asked: "Which reference goes on a letter to {n}?" },
    { says: "Always go through checklist {v} before you promise {n} a date.", asked: "Which checklist comes before a date for {n}?" },
    { says: "Never answer the press in {n} without the wording of sheet {v}.", asked: "Which sheet has the wording for the press in {n}?" },
  ],
  decision: [
    {
      says: "We decided to let the carrier {v} bring the goods to {n}.",
      later: "We decided otherwise: the carrier {v} will bring the goods to {n}.",
      asked: "Which carrier brings the goods to {n}?",
    },
    {
      says: "It is settled that the training in {n} takes place in room {v}.",
      later: "That has changed, the training in {n} now takes place in room {v}.",
      asked: "In which room does the training in {n} take place?",
    },
    {
      says: "For the roof in {n} we chose the offer {v}.",
      later: "For the roof in {n} we chose again, and it is the offer {v}.",
      asked: "Which offer did we choose for the roof in {n}?",
    },
  ],
  identifier: [
    { says: "The export of {n} lies at {v} on the old server.", asked: "Where does the export of {n} lie?", form: "path" },
    { says: "The lease in {n} can be ended on {v} at the earliest.", asked: "When can the lease in {n} be ended?", form: "date" },
    {
      says: "The damage in {n} was put at {v} euros by the expert.",
      asked: "At how much did the expert put the damage in {n}?",
      form: "amount",
    },
    { says: "The delivery to {n} is tracked as {v} by the carrier.", asked: "As what is the delivery to {n} tracked?", form: "id" },
  ],
  task: [
    {
      says: "Still to do: repaint the fence in {n}, ticket {v}.",
      later: "Done: the fence in {n} is repainted, report {v}.",
      asked: "How does it stand with repainting the fence in {n}?",
    },
    {
      says: "Somebody must still replace the boiler in {n}, order {v}.",
      later: "The boiler in {n} has been replaced, receipt {v}.",
      asked: "What is the state of the boiler in {n}?",
    },
    {
      says: "Open task for {n}: have the ladders inspected, list {v}.",
      later: "The ladders in {n} were inspected and the task is closed, protocol {v}.",
      asked: "What came of the task to have the ladders in {n} inspected?",
    },
  ],
};
