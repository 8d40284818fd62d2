/** Days as search terms: the day on which a message was said, and the days that a question names in words or figures. All in UTC. */
import { toUtcDay } from "../../lib/utc-time";

const MONTHS: readonly string[] = [
  "january januar janvier enero janeiro gennaio januari января январь jan",
  "february februar février febrero fevereiro febbraio februari февраля февраль feb",
  "march märz mars marzo março maart марта март mar",
  "april avril abril aprile апреля апрель apr",
  "may mai mayo maio maggio mei мая май",
  "june juni juin junio junho giugno июня июнь jun",
  "july juli juillet julio julho luglio июля июль jul",
  "august août agosto augustus августа август aug",
  "september septembre septiembre setembro settembre сентября сентябрь sep sept",
  "october oktober octobre octubre outubro ottobre октября октябрь oct okt",
  "november novembre noviembre novembro ноября ноябрь nov",
  "december dezember décembre diciembre dezembro dicembre декабря декабрь dec dez",
];
const monthNumbers = new Map(MONTHS.flatMap((names, index) => names.split(" ").map((name): [string, number] => [name, index + 1])));

const two = (value: number): string => String(value).padStart(2, "0");
/** Terms with marks that no word contains. */
const dayTerm = (month: number, day: number): string => `¤d${two(month)}${two(day)}`;
const monthTerm = (month: number): string => `¤m${two(month)}`;
const yearMonthTerm = (year: number, month: number): string => `¤y${year}${two(month)}`;

export function dayTerms(at: number): string[] {
  const { year, month, day } = toUtcDay(at);
  return [dayTerm(month, day), monthTerm(month), yearMonthTerm(year, month)];
}

const ISO = /\b(\d{4})-(\d{2})(?:-(\d{2}))?\b/g;
const CJK_DAY = /(?:(\d{4})年)?(\d{1,2})月(?:(\d{1,2})[日号])?/g;
const WORD = /[\p{L}\p{M}]+|\d+/gu;

/** The terms of the days and months that `question` names. */
export function askedDays(question: string): string[] {
  const text = question.normalize("NFKC").toLowerCase();
  const found = [...text.matchAll(ISO), ...text.matchAll(CJK_DAY)].flatMap(([, year, month, day]) =>
    toTerms(Number(month), day ? Number(day) : null, year ? Number(year) : null),
  );
  return [...new Set([...found, ...namedDays(text.match(WORD) ?? [])])];
}

function toTerms(month: number, day: number | null, year: number | null): string[] {
  if (month < 1 || month > 12) return [];
  const rest = year === null ? [monthTerm(month)] : [yearMonthTerm(year, month)];
  return day !== null && day >= 1 && day <= 31 ? [dayTerm(month, day), ...rest] : rest;
}

/** Finds the figures near a month's name: "3 May 2026", "May 3rd", "am 3. Mai", "el 3 de mayo". */
function namedDays(words: readonly string[]): string[] {
  return words.flatMap((word, index) => {
    const month = monthNumbers.get(word);
    if (month === undefined) return [];
    const near = words.slice(Math.max(0, index - 2), index + 4).map((each) => (/^\d+$/.test(each) ? Number(each) : 0));
    const day = near.find((value) => value >= 1 && value <= 31) ?? null;
    const year = near.find((value) => value >= 1_900 && value <= 2_200) ?? null;
    // "may" and "mars" are also ordinary words, so alone they name no month.
    return day === null && year === null && word.length < 5 ? [] : toTerms(month, day, year);
  });
}
