/**
 * Hazards of pasting a block of commands into an interactive shell: zsh treats `#` as a word, refuses a glob without
 * matches, expands `=word`, and gives some names a meaning of its own. Both zsh and bash expand `!` outside of single quotes.
 */

/** zsh ignores or refuses what is assigned to these, or runs no further command: https://zsh.sourceforge.io/Doc/Release/Parameters.html */
const ZSH_PARAMETER =
  /^\s*(USERNAME|E?[UG]ID|HOST|status|signals|path|fpath|cdpath|mailpath|manpath|argv|pipestatus|prompt|options|commands|functions|aliases|history|words)=/;

interface Quoting {
  /** The innermost quote is last: a command substitution inside double quotes begins unquoted again. */
  readonly open: ("single" | "double" | "substitution")[];
}

/** One line for each hazard, with the line that contains it. */
export function findHazards(block: string): readonly string[] {
  const found: string[] = [];
  const quoting: Quoting = { open: [] };
  for (const { line, isData } of commandLines(block)) {
    if (isData) continue;
    if (quoting.open.length === 0 && ZSH_PARAMETER.test(line)) found.push(`a parameter of zsh is assigned: ${line}`);
    for (let at = 0; at < line.length; at++) {
      const step = readCharacter(line, at, quoting);
      if (step.hazard) found.push(`${step.hazard}: ${line}`);
      at += step.skip;
    }
  }
  if (quoting.open.length > 0) found.push(`a ${quoting.open.at(-1)} that is open at the end`);
  return found;
}

/** The body of a here-document is no command. */
function* commandLines(block: string): Generator<{ readonly line: string; readonly isData: boolean }> {
  let end: string | null = null;
  for (const line of block.split("\n")) {
    yield { line, isData: end !== null };
    if (line === end) end = null;
    else end ??= /<<'(\w+)'/.exec(line)?.[1] ?? null;
  }
}

function readCharacter(line: string, at: number, { open }: Quoting): { readonly hazard?: string; readonly skip: number } {
  const character = line.charAt(at);
  const state = open.at(-1);
  if (state === "single") {
    if (character === "'") open.pop();
    return { skip: 0 };
  }
  if (character === "\\") return { skip: 1 };
  if (line.startsWith("$(", at)) {
    open.push("substitution");
    return { skip: 1 };
  }
  if (character === "!" && /\S/.test(line.charAt(at + 1))) return { hazard: "an exclamation mark is expanded", skip: 0 };
  if (character === '"') {
    if (state === "double") open.pop();
    else open.push("double");
    return { skip: 0 };
  }
  return state === "double" ? { skip: 0 } : readUnquoted(line, at, open);
}

function readUnquoted(line: string, at: number, open: Quoting["open"]): { readonly hazard?: string; readonly skip: number } {
  const character = line.charAt(at);
  const startsWord = at === 0 || /[\s;&|(]/.test(line.charAt(at - 1));
  if (character === "'") open.push("single");
  if (character === ")" && open.at(-1) === "substitution") open.pop();
  if (character === "#" && startsWord) return { hazard: "a comment is a word in zsh", skip: line.length };
  if (/[?*[]/.test(character)) return { hazard: "a glob that matches nothing is refused in zsh", skip: 0 };
  if (/[=~]/.test(character) && startsWord) return { hazard: "expanded by zsh", skip: 0 };
  return { skip: 0 };
}
