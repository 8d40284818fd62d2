import { encode } from "gpt-tokenizer/encoding/o200k_base";
import { describe, expect, test } from "vitest";
import { estimateTokens } from "../../src/context/tokens";

const hex = Array.from({ length: 800 }, (_, index) => ((index * 2654435761) >>> 4).toString(16)).join("");

/** Real texts of each kind, and the allowed error of the estimate, as a share of the true count. */
const samples: readonly [kind: string, text: string, low: number, high: number][] = [
  [
    "English prose",
    "The agent will keep every message in full and read a compacted view of the conversation, then look up what was left out. ".repeat(8),
    0.85,
    1.3,
  ],
  [
    "JSON",
    JSON.stringify(
      Array.from({ length: 40 }, (_, i) => ({
        flight_number: `HAT${100 + i}`,
        origin: "JFK",
        status: "available",
        prices: { basic: 51 + i, economy: 134 },
      })),
    ),
    0.85,
    1.3,
  ],
  [
    "code",
    "export function fold(events: Iterable<StoredEvent>): SessionState {\n  let state = initialState;\n  for (const event of events) state = evolve(state, event);\n  return state;\n}\n".repeat(
      6,
    ),
    0.85,
    1.35,
  ],
  ["hexadecimal", hex, 0.8, 1.3],
  ["digits", Array.from({ length: 300 }, (_, i) => String(i * 104729)).join(" "), 0.8, 1.3],
  ["Chinese", "长对话的上下文压缩是一个重要的问题。每条消息都完整保存，模型读取压缩后的视图。".repeat(8), 0.8, 1.4],
  ["Japanese", "会話が長くなると、モデルのコンテキストウィンドウを超えてしまいます。古いメッセージを要約します。".repeat(8), 0.8, 1.4],
  ["Korean", "대화가 길어지면 모델의 컨텍스트 창을 초과하게 됩니다. 오래된 메시지를 요약합니다.".repeat(8), 0.8, 1.4],
  ["Russian", "Когда разговор становится длинным, он превышает окно контекста модели.".repeat(8), 0.8, 1.6],
  ["Arabic", "عندما تصبح المحادثة طويلة فإنها تتجاوز نافذة سياق النموذج.".repeat(8), 0.8, 1.6],
  ["Hebrew", "כאשר השיחה נעשית ארוכה היא חורגת מחלון ההקשר של המודל, ולכן ההודעות הישנות מסוכמות.".repeat(8), 0.8, 1.4],
  ["Greek", "Όταν η συζήτηση γίνεται μεγάλη, ξεπερνά το παράθυρο του μοντέλου και τα παλιά μηνύματα συνοψίζονται.".repeat(8), 0.8, 1.4],
  ["Hindi", "जब बातचीत लंबी हो जाती है, तो वह मॉडल की सीमा से बाहर चली जाती है और पुराने संदेशों का सारांश बनता है।".repeat(8), 0.8, 1.4],
  ["Thai", "เมื่อการสนทนายาวขึ้น ข้อความเก่าจะถูกสรุปเพื่อให้พอดีกับหน้าต่างบริบทของโมเดล".repeat(8), 0.8, 1.4],
  ["Georgian", "როდესაც საუბარი გრძელდება, ძველი შეტყობინებები შეჯამდება.".repeat(8), 0.8, 1.4],
  ["Lao, read byte by byte", "ມະນຸດທຸກຄົນເກີດມາມີກຽດສັກສີ ສິດທິ ເສລີພາບ ແລະ ຄວາມສະເໝີພາບເທົ່າທຽມກັນ".repeat(8), 0.8, 1.4],
  ["Amharic, read byte by byte", "ሰው ሁሉ ሲወለድ ነጻና በክብርና በመብትም እኩልነት ያለው ነው።".repeat(8), 0.8, 1.4],
  ["emoji", "😀🎉🚀👍🏽❤️🧪⚠️👩‍💻🇯🇵☕".repeat(20), 0.8, 1.3],
  [
    "Python",
    "class Cache(Store):\n    def _read_all(self, user_id: str) -> dict:\n        return {k: v for k, v in self._rows.items()}\n\n".repeat(
      8,
    ),
    0.85,
    1.35,
  ],
  [
    "minified",
    'function a(e,t){return e.n?t(e.d):r&&r.o(null,e)}var i=t(2417),o=t.n(i);if(void 0===e)throw new TypeError("x");'.repeat(8),
    0.85,
    1.35,
  ],
];

describe("the estimate stays near a true tokenizer's count", () => {
  test.each(samples)("%s", (_kind, text, low, high) => {
    const ratio = estimateTokens(text) / encode(text).length;
    expect(ratio).toBeGreaterThan(low);
    expect(ratio).toBeLessThan(high);
  });
});

test("only the empty text weighs nothing", () => {
  expect(estimateTokens("")).toBe(0);
  expect(estimateTokens(" ")).toBe(1);
});

test("two texts weigh together about what they weigh apart", () => {
  const [, prose] = samples[0] ?? ["", ""];
  expect(Math.abs(estimateTokens(prose + prose) - 2 * estimateTokens(prose))).toBeLessThanOrEqual(2);
});
