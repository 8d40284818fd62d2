/** The conversation that is held by default: a greeting, a tool, a few long messages, and a question about the beginning. */

export const SYSTEM =
  "You help somebody to plan a journey. Be brief: two or three sentences. Use the tool when you are asked about the weather.";

export const TOOLS = [
  {
    name: "get_weather",
    description: "The weather of the next days in a city",
    parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"], additionalProperties: false },
  },
];

const NOTES = [
  "I leave on the ninth in the morning and come back on the twenty-first, late in the evening, so there are twelve nights to plan.",
  "The first four nights are booked near the river, in a small house with a kitchen; breakfast is not included, but there is a market around the corner.",
  "I would like to see the old tile workshop, the botanical garden and, if there is time, the lighthouse at the end of the tram line.",
  "My sister joins me for the second half. She walks slowly at the moment, so stairs and long hills are best left out on those days.",
  "I do not eat fish, which I know is a pity there, and she does not eat anything with nuts in it.",
  "We have a budget of about ninety a day for the two of us, without the rooms, and would rather spend it on food than on taxis.",
  "The camera needs a new battery, the umbrella broke last month, and one of the suitcases has a wheel that squeaks but still turns.",
  "On the fifteenth there is a concert in the evening that I do not want to miss; it begins at half past eight, and the doors close on time.",
];

const PAPERS = [
  "The flight out is by way of Frankfurt with an hour and ten minutes between the two legs, which was enough the last time but only just.",
  "The insurance covers delays of more than four hours, lost luggage up to one thousand, and the doctor, but not what I leave in a taxi.",
  "The landlady asks for a message the day before we come, and for the deposit in cash, one hundred and fifty, which she gives back at the end.",
  "The rail pass is valid on nine days of my choice within a month; each day has to be written into it before the first train.",
  "My passport runs out in February, so nothing needs to be done about it now, but my sister has to collect hers on the second.",
  "The neighbour waters the plants and takes in the post; she has a key, and the number of the plumber is on the door of the fridge.",
  "I have put copies of everything into the blue folder, and the folder into the small bag, which stays with me all the time.",
];

const LETTER = [
  "She says that she would like two quiet days at the end, without a museum, a train or a plan, and that I am to stop her if she makes one.",
  "She has found a small restaurant behind the theatre, where the menu is written on a board and one has to ask for a table before noon.",
  "Her doctor wants her to walk half an hour each day, in flat shoes, and to sit in the shade after lunch, which she says she would have done anyway.",
  "She brings the good binoculars and the cards, but no books, because she will read mine, and she wants the bed by the window.",
  "From her friend she has heard that the ferry to the other side is cheaper than the bridge tram and has the better view in the evening.",
  "She asks whether I have thought of the adapter for the sockets, since I forgot it both times before.",
  "If it rains for three days, she says, she knows how to bake the custard tarts, and the kitchen in the house will do for that.",
];

const CHANGES = [
  "The landlady can only give us the house from the tenth on, so the first night has to be somewhere near the station.",
  "The concert was moved to the sixteenth, at the same hour, and the tickets stay valid, but the seats are now on the left.",
  "My sister comes a day earlier than she thought, at ten past four in the afternoon, and would like to be met at the platform.",
  "The botanical garden is closed on Mondays and, this month only, on the morning of the eighteenth as well.",
  "The budget can be a hundred a day, since the flight home was cheaper than I had feared, as long as nobody tells my sister.",
  "And the suitcase with the squeaking wheel has lost the wheel, so that I need another one, not too large, before Friday.",
];

export const SCRIPT: readonly string[] = [
  "Hello! In one sentence: what are you?",
  "My booking code is HALCYON-42, please keep it in mind. What is the weather like in Lisbon, and what in Osaka? Look it up with the tool.",
  `Here is what I have noted so far. ${NOTES.join(" ")} What should I pack first?`,
  `And these are my papers. ${PAPERS.join(" ")} What must I not forget on the day I leave?`,
  `My sister has written to me. ${LETTER.join(" ")} What shall I answer her?`,
  `Some things have changed. ${CHANGES.join(" ")} Which of it is the most urgent?`,
  "What was my booking code, and which two cities did I ask about?",
];

/** The client's tools, which run when the model calls them. Never throws: the model reads the error. */
export function answerCall(name: string, input: string): { readonly output: string; readonly is_error: boolean } {
  const city = readCity(input);
  if (name !== "get_weather") return { output: `There is no tool ${name}.`, is_error: true };
  if (city === null) return { output: 'The arguments must be {"city": "…"}.', is_error: true };
  const days = ["today", "tomorrow", "the day after"].map((day, at) => ({
    day,
    sky: ["clear", "showers", "cloudy"][(city.length + at) % 3],
    celsius: 12 + ((city.length * 3 + at) % 14),
  }));
  return { output: JSON.stringify({ city, days }), is_error: false };
}

function readCity(input: string): string | null {
  try {
    const value: unknown = JSON.parse(input);
    return typeof value === "object" && value !== null && "city" in value && typeof value.city === "string" ? value.city : null;
  } catch {
    return null;
  }
}
