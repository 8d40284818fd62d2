/** The demo's messages: a fact, a travel diary that fills the window, and a question about the fact. */

/** Only the first message contains the fact, after a sentence that the stand-in model quotes instead. */
export const FACT = "Kim put the spare key on the hook behind the blue door.";
const QUESTION = "Where did Kim put the spare key?";

export const MESSAGE_COUNT = 30;

const PLACES = ["the harbour", "the old mill", "the lighthouse", "the market", "the botanical garden"];
const WEATHER = ["It was warm, with a light wind from the sea.", "It rained until noon.", "The sky was grey, but it stayed dry."];
const EVENTS = [
  "We met two cyclists from Porto, who told us about a road along the cliffs, and we drew it on the map for the day after.",
  "The ferry was an hour late, so we read, played cards, and shared the bread and cheese that were meant for the evening.",
  "A man at the station sold us a guide book from 1961, and half of the restaurants in it are still open.",
  "We swam before breakfast, when the beach was empty, and dried our towels on the rail of the balcony.",
];
const EVENINGS = [
  "In the evening there was music in the square, and we stayed until the last song.",
  "Dinner was soup, grilled peppers and a cake with almonds, and all of it cost less than the train.",
  "We went to bed early, with the window open.",
];

const pick = (choices: readonly string[], day: number): string => choices[day % choices.length] ?? "";

const writeDiary = (day: number): string =>
  `Day ${day} took us to ${pick(PLACES, day)}. ${pick(WEATHER, day)} ${pick(EVENTS, day)} ${pick(EVENINGS, day)}`;

const DIARY = Array.from({ length: MESSAGE_COUNT - 2 }, (_, index) => writeDiary(index + 1));

export const MESSAGES: readonly string[] = [`We have arrived. ${FACT}`, ...DIARY, QUESTION];
