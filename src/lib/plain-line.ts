/**
 * Names are one line that reads as it is written: no control characters, line separators, lone surrogates, or characters that turn the
 * direction of what follows. They are shown in lists, put into headers, and read by models in front of a text.
 */
const HIDDEN = "\\p{Cc}\\p{Cs}\\p{Zl}\\p{Zp}\\u202A-\\u202E\\u2066-\\u2069";

export const PLAIN_LINE = new RegExp(`^[^${HIDDEN}]*$`, "u");
const HIDDEN_RUNS = new RegExp(`[${HIDDEN}]+`, "gu");

/** The text with a space in place of what a name may not have. */
export const toPlainLine = (text: string): string => text.replace(HIDDEN_RUNS, " ").trim();
