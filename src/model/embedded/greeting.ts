/** The embedded model's answer to a greeting, or to a message that only asks what it is. */
import { splitSentences } from "../text-matching";
import { STAND_IN } from "./sentences";

/** One sentence that contains the model's name, so that the model never quotes it as an answer (`splitStatements`). */
export const GREETING = `Hello! ${STAND_IN}, for development without an account: I understand nothing, and answer with sentences that I can see or look up, so tell me that your dog is called Rex and ask me later what your dog is called, name one of your tools with its arguments, or put a real model in my place as docs/models-and-keys.md shows.`;

/** Greetings in English, German, Chinese and Japanese. The pattern matches whole sentences only. */
const HELLO =
  /^(?:hello|hi|hey|good (?:morning|day|afternoon|evening)|hallo|guten (?:morgen|tag|abend)|你好|您好|嗨|こんにちは|はじめまして)(?: there)?\P{L}*$/iu;
const WHO =
  /(?:\b(?:what|who) are you|\bwhat can you do|\bintroduce yourself|\b(?:was|wer) bist du|\bwas kannst du|你是(?:什么|谁)|你能做什么|あなたは(?:誰|何)(?:です|でしょう)か?|何ができますか)\P{L}*$/iu;

export function isAboutMe(said: string): boolean {
  const sentences = splitSentences(said);
  return sentences.length > 0 && sentences.every((sentence) => HELLO.test(sentence.trim()) || WHO.test(sentence.trim()));
}
