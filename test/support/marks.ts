/** Numbered words that a test plants, and looks for in files. None is the beginning of another. */
const MARKS = /zqunforgettable\d{6}q/g;

export const toMark = (n: number): string => `zqunforgettable${String(n).padStart(6, "0")}q`;

/** Those in a text, each once, in order. */
export const readMarks = (text: string): readonly string[] => [...new Set(text.match(MARKS))].toSorted();
