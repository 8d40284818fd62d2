/** Generates programs in the shape of real ones: indentation, names, punctuation and comments as in the files of a repository. */
import type { Random } from "../support/random.ts";
import { camel, hex, NOUNS, pascal, pick, snake, times, VERBS, type Write } from "./material.ts";

const comment: Write = (random) =>
  pick(random, [
    `The ${pick(random, NOUNS)} is read again, since the ${pick(random, NOUNS)} may have changed while it waited.`,
    `Returns the newest ${pick(random, NOUNS)}, or null when there is none.`,
    `TODO: ${pick(random, VERBS)} the ${pick(random, NOUNS)} before the ${pick(random, NOUNS)} expires.`,
  ]);

const typescriptLine: Write = (random) => {
  const [name, other, type] = [camel(random), camel(random), pascal(random)];
  return pick(random, [
    `  const ${name} = await this.#${other}.${pick(random, VERBS)}(${camel(random)}, { limit: ${random.between(1, 500)} });`,
    `  if (${name} === null || ${name}.length > MAX_${snake(random).toUpperCase()}) return err("${snake(random)}");`,
    `  for (const ${name} of ${other}.filter(({ ${camel(random)} }) => ${camel(random)} !== undefined)) {\n    total += ${name}.tokens;\n  }`,
    `  // ${comment(random)}`,
    `  return { ...${other}, ${name}: new ${type}(${camel(random)} ?? ${random.between(0, 4096)}) };`,
    `  expect(${name}).toEqual<${type}[]>([{ id: "${hex(random, 8)}", at: ${random.between(0, 99)} }]);`,
    `  log.warn(\`${pick(random, VERBS)}ing \${${name}.id} took \${elapsed} ms\`);`,
  ]);
};

export const typescript: Write = (random) =>
  [
    ...times(
      random.between(1, 4),
      () => `import { type ${pascal(random)}, ${camel(random)} } from "../${snake(random).replaceAll("_", "-")}";`,
    ),
    "",
    ...times(random.between(1, 4), () => typescriptFunction(random)),
  ].join("\n");

const typescriptFunction = (random: Random): string =>
  [
    `/** ${comment(random)} */`,
    `export async function ${camel(random)}(${camel(random)}: ${pascal(random)}, options: ${pascal(random)}Options = {}): Promise<${pascal(random)} | null> {`,
    ...times(random.between(3, 9), () => typescriptLine(random)),
    "}",
    "",
  ].join("\n");

const pythonLine: Write = (random) => {
  const [name, other] = [snake(random), snake(random)];
  return pick(random, [
    `        ${name} = self._${other}.${pick(random, VERBS)}(${snake(random)}, timeout=${random.between(1, 60)})`,
    `        if not ${name} or len(${name}) > self.max_${snake(random)}:\n            raise ValueError(f"unexpected ${name}: {${name}!r}")`,
    `        for key, ${name} in sorted(${other}.items()):\n            result[key] = ${name} * ${random.between(2, 9)}.5`,
    `        # ${comment(random)}`,
    `        with open(os.path.join(self.root, "${name}.json"), "r", encoding="utf-8") as handle:\n            ${other} = json.load(handle)`,
    `        return [${name} for ${name} in ${other} if ${name}.is_${pick(random, NOUNS)}]`,
    `        logger.info("%s ${name} in %.2f s", ${other}, time.monotonic() - started)`,
  ]);
};

export const python: Write = (random) =>
  [
    "import json",
    "import os",
    `from ${snake(random)}.${pick(random, NOUNS)} import ${pascal(random)}`,
    "",
    "",
    `class ${pascal(random)}(${pascal(random)}):`,
    `    """${comment(random)}"""`,
    "",
    ...times(random.between(1, 4), () =>
      [
        `    def ${snake(random)}(self, ${snake(random)}: str, ${snake(random)}: Optional[int] = None) -> Dict[str, Any]:`,
        ...times(random.between(3, 8), () => pythonLine(random)),
        "",
      ].join("\n"),
    ),
  ].join("\n");

const letter: Write = (random) => pick(random, "abcdefghijklmnoprstuvxyzAEIMNRST".split(""));

const minifiedPiece: Write = (random) => {
  const [a, b, c] = [letter(random), letter(random), letter(random)];
  return pick(random, [
    `function ${a}${b}(${a},${b},${c}){return ${a}.${camel(random)}?${b}(${a}.${pick(random, NOUNS)}):${c}&&${c}.${pick(random, VERBS)}(null,${a})}`,
    `var ${a}=${b}(${random.between(1, 9999)}),${c}=${b}.n(${a});`,
    `if(void 0===${a}||${a}.length>${random.between(1, 64)})throw new TypeError("${camel(random)} expected");`,
    `${a}.prototype.${camel(random)}=function(${b}){var ${c}=this;return ${c}._${pick(random, NOUNS)}[${b}]||(${c}._${pick(random, NOUNS)}[${b}]=[]),${c}};`,
    `Object.defineProperty(${a},"${camel(random)}",{enumerable:!0,get:function(){return ${b}.${letter(random)}}}),`,
    `for(var ${a}=0,${b}=${c}.length;${a}<${b};${a}++)(${c}[${a}]||{}).${letter(random)}!==${letter(random)}&&${letter(random)}.push(${c}[${a}]);`,
  ]);
};

export const minified: Write = (random) =>
  `!function(e,t){"use strict";${times(random.between(6, 30), () => minifiedPiece(random)).join("")}}();`;
