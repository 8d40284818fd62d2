/** Statements of people in a generated conversation, and later questions about them, in four languages. */

export interface FactPattern {
  /** `{n}`: the person. `{v}`: one of `values`. */
  readonly says: string;
  /** A question in the words of the statement. */
  readonly exact: string;
  /** A question that shares some words with the statement, mostly in another form. */
  readonly asked: string;
  readonly values: readonly string[];
}

export interface ChatLanguage {
  readonly name: string;
  readonly people: readonly string[];
  readonly facts: readonly FactPattern[];
  /** Small talk: each sentence combines one entry of each list. */
  readonly small: readonly [readonly string[], readonly string[], readonly string[]];
  /** A question with its answer. The answer alone shares no word with the later question. */
  readonly exchange: { readonly question: string; readonly answer: string; readonly asked: string; readonly values: readonly string[] };
  readonly joint: string;
}

const english: ChatLanguage = {
  name: "English",
  people: ["Caroline", "Melanie", "Joseph", "Priya"],
  joint: " ",
  facts: [
    {
      says: "{n} told us she bought a second-hand {v} at the fair last weekend.",
      exact: "{n} second-hand {v}",
      asked: "What did {n} buy at the fair?",
      values: ["accordion", "telescope", "loom", "kayak"],
    },
    {
      says: "By the way, {n} went hiking near {v} with two colleagues and they got lost.",
      exact: "{n} hiking {v}",
      asked: "Where did {n} go on a hike?",
      values: ["Snowdon", "Aspen", "Kilkenny", "Fuji"],
    },
    {
      says: "{n} is allergic to {v}, so please keep it out of the kitchen.",
      exact: "{n} allergic {v}",
      asked: "Which allergies does {n} have?",
      values: ["hazelnuts", "shellfish", "sesame", "mustard"],
    },
    {
      says: "For the parcel: {n} wrote that the locker code is {v}.",
      exact: "locker code {v}",
      asked: "What was the code of the locker that {n} wrote?",
      values: ["7719-B", "4402-K", "1835-Q", "9027-T"],
    },
    {
      says: "{n} teaches {v} to adults on Thursday evenings.",
      exact: "{n} teaches {v}",
      asked: "Which subject has {n} taught in the evening?",
      values: ["pottery", "Portuguese", "calligraphy", "welding"],
    },
    {
      says: "{n} adopted a dog from the shelter and named it {v}.",
      exact: "{n} dog {v}",
      asked: "What is the name of the dog that {n} has adopted?",
      values: ["Biscuit", "Pepper", "Waffles", "Juno"],
    },
    {
      says: "The dentist moved the appointment of {n} to {v}.",
      exact: "dentist appointment {n} {v}",
      asked: "When are the dental appointments of {n} with the dentist?",
      values: ["March 14", "June 2", "October 30", "April 21"],
    },
    {
      says: "{n} broke her wrist while {v} and must rest it for six weeks.",
      exact: "{n} wrist {v}",
      asked: "How did {n} break the wrist?",
      values: ["skating", "bouldering", "fencing", "surfing"],
    },
  ],
  small: [
    [
      "The weather is nice today,",
      "I slept badly,",
      "Work was busy again,",
      "The train was late,",
      "We had soup for lunch,",
      "My phone is slow,",
      "I finished the report,",
      "The neighbours were loud,",
    ],
    [
      "so I took a long walk",
      "and I called {n} about the weekend",
      "but the meeting went well",
      "and the dog next door barked",
      "so I stayed home and read",
      "and I bought bread at the corner",
      "then {n} sent me a funny picture",
      "so we changed the plan for dinner",
    ],
    [
      "in the park.",
      "before it got dark.",
      "as usual.",
      "after the news.",
      "and that was it.",
      "on the way home.",
      "with some tea.",
      "for an hour.",
    ],
  ],
  exchange: {
    question: "So {n}, which instrument do you practise these days?",
    answer: "Mostly the {v}, an hour before breakfast.",
    asked: "Which instrument does {n} practice?",
    values: ["oboe", "cello", "bassoon", "harp"],
  },
};

const german: ChatLanguage = {
  name: "German",
  people: ["Annika", "Jürgen", "Sabine", "Mehmet"],
  joint: " ",
  facts: [
    {
      says: "{n} hat am Wochenende auf dem Flohmarkt ein gebrauchtes {v} gekauft.",
      exact: "{n} gebrauchtes {v}",
      asked: "Was kaufte {n} auf dem Flohmarkt?",
      values: ["Akkordeon", "Teleskop", "Spinnrad", "Kajak"],
    },
    {
      says: "Übrigens wanderte {n} mit zwei Kollegen bei {v}, und sie haben sich verlaufen.",
      exact: "{n} wanderte {v}",
      asked: "Wo ist {n} mit den Kollegen gewandert?",
      values: ["Berchtesgaden", "Görlitz", "Zermatt", "Bludenz"],
    },
    {
      says: "{n} ist allergisch gegen {v}, also bitte nicht in die Küche damit.",
      exact: "{n} allergisch {v}",
      asked: "Welche allergischen Reaktionen hat {n}?",
      values: ["Haselnüsse", "Krabben", "Sesam", "Senf"],
    },
    {
      says: "Wegen des Pakets: {n} schrieb, der Code für das Schließfach ist {v}.",
      exact: "Schließfach Code {v}",
      asked: "Wie lauteten die Codes der Schließfächer, die {n} geschrieben hat?",
      values: ["7719-B", "4402-K", "1835-Q", "9027-T"],
    },
    {
      says: "{n} unterrichtet donnerstags am Abend Erwachsene in {v}.",
      exact: "{n} unterrichtet {v}",
      asked: "Was wird von {n} am Abend unterrichtet?",
      values: ["Töpfern", "Portugiesisch", "Kalligrafie", "Schweißen"],
    },
    {
      says: "{n} hat einen Hund aus dem Tierheim und nennt ihn {v}.",
      exact: "{n} Hund {v}",
      asked: "Wie heißen die Hunde von {n} aus dem Tierheim?",
      values: ["Keks", "Pfeffer", "Waffel", "Juno"],
    },
    {
      says: "Der Zahnarzt hat den Termin von {n} auf den {v} verschoben.",
      exact: "Zahnarzt Termin {n} {v}",
      asked: "Wann sind die Termine von {n} beim Zahnarzt?",
      values: ["14. März", "2. Juni", "30. Oktober", "21. April"],
    },
    {
      says: "{n} hat sich beim {v} das Handgelenk gebrochen und muss sechs Wochen ruhen.",
      exact: "{n} Handgelenk {v}",
      asked: "Wobei brach sich {n} das Handgelenk?",
      values: ["Eislaufen", "Klettern", "Fechten", "Surfen"],
    },
  ],
  small: [
    [
      "Das Wetter ist heute schön,",
      "Ich habe schlecht geschlafen,",
      "Auf der Arbeit war viel los,",
      "Der Zug war zu spät,",
      "Mittags gab es Suppe,",
      "Mein Telefon ist langsam,",
      "Der Bericht ist fertig,",
      "Die Nachbarn waren laut,",
    ],
    [
      "also ging ich lange spazieren",
      "und ich rief {n} wegen Samstag an",
      "aber die Besprechung lief gut",
      "und nebenan bellte es",
      "also blieb ich daheim und las",
      "und ich holte Brot an der Ecke",
      "dann schickte {n} ein lustiges Bild",
      "also änderten wir den Plan fürs Essen",
    ],
    [
      "im Park.",
      "bevor es dunkel wurde.",
      "wie immer.",
      "nach den Nachrichten.",
      "und das war es.",
      "auf dem Heimweg.",
      "mit etwas Tee.",
      "eine Stunde lang.",
    ],
  ],
  exchange: {
    question: "Und {n}, welches Instrument übst du gerade?",
    answer: "Meistens {v}, eine Stunde vor dem Frühstück.",
    asked: "Welche Instrumente werden von {n} geübt?",
    values: ["Oboe", "Cello", "Fagott", "Harfe"],
  },
};

const chinese: ChatLanguage = {
  name: "Chinese",
  people: ["王丽", "陈强", "周敏", "刘洋"],
  joint: "",
  facts: [
    {
      says: "{n}说上周末在集市买了一台二手{v}。",
      exact: "{n}二手{v}",
      asked: "{n}在集市上买过什么?",
      values: ["手风琴", "望远镜", "织布机", "皮划艇"],
    },
    {
      says: "对了,{n}和两个同事去{v}徒步,结果迷路了。",
      exact: "{n}去{v}徒步",
      asked: "{n}去哪里徒步了?",
      values: ["黄山", "九寨沟", "武夷山", "香格里拉"],
    },
    { says: "{n}对{v}过敏,厨房里请不要放。", exact: "{n}对{v}过敏", asked: "什么东西会让{n}过敏?", values: ["榛子", "虾", "芝麻", "芥末"] },
    {
      says: "关于包裹:{n}写道储物柜的密码是{v}。",
      exact: "储物柜密码{v}",
      asked: "{n}写的储物柜密码是多少?",
      values: ["7719-B", "4402-K", "1835-Q", "9027-T"],
    },
    {
      says: "{n}每周四晚上教成年人{v}。",
      exact: "{n}教成年人{v}",
      asked: "{n}晚上给成年人教的是什么课?",
      values: ["陶艺", "葡萄牙语", "书法", "焊接"],
    },
    {
      says: "{n}从收容所领养了一只狗,取名叫{v}。",
      exact: "{n}领养狗{v}",
      asked: "{n}领养的狗叫什么名字?",
      values: ["饼干", "胡椒", "华夫", "朱诺"],
    },
    {
      says: "牙医把{n}的预约改到了{v}。",
      exact: "牙医{n}预约{v}",
      asked: "{n}什么时候去看牙医?",
      values: ["3月14日", "6月2日", "10月30日", "4月21日"],
    },
    {
      says: "{n}在{v}时摔断了手腕,要休息六个星期。",
      exact: "{n}{v}手腕",
      asked: "{n}的手腕是怎么摔断的?",
      values: ["滑冰", "攀岩", "击剑", "冲浪"],
    },
  ],
  small: [
    ["今天天气不错,", "我昨晚没睡好,", "工作还是很忙,", "火车晚点了,", "午饭喝了汤,", "我的手机很慢,", "报告写完了,", "邻居很吵,"],
    [
      "所以我散步了很久",
      "我给{n}打电话说周末的事",
      "不过会议很顺利",
      "隔壁一直有声音",
      "所以我在家看书",
      "我在街角买了面包",
      "后来{n}发来一张有趣的照片",
      "我们改了晚饭的计划",
    ],
    ["在公园里。", "天黑之前。", "和平时一样。", "看完新闻以后。", "就这样。", "回家的路上。", "还喝了点茶。", "一个小时。"],
  ],
  exchange: {
    question: "{n},你最近在练什么乐器?",
    answer: "主要是{v},早饭前一个小时。",
    asked: "{n}练的乐器是哪一种?",
    values: ["双簧管", "大提琴", "巴松", "竖琴"],
  },
};

const japanese: ChatLanguage = {
  name: "Japanese",
  people: ["佐藤さん", "美咲さん", "健太さん", "高橋さん"],
  joint: "",
  facts: [
    {
      says: "{n}は先週末、フリーマーケットで中古の{v}を買いました。",
      exact: "{n} 中古の{v}",
      asked: "{n}がフリーマーケットで買った物は何ですか?",
      values: ["アコーディオン", "望遠鏡", "機織り機", "カヤック"],
    },
    {
      says: "ところで{n}は同僚二人と{v}へハイキングに行って道に迷いました。",
      exact: "{n} {v} ハイキング",
      asked: "{n}がハイキングした場所はどこ?",
      values: ["高尾山", "屋久島", "上高地", "尾瀬"],
    },
    {
      says: "{n}は{v}アレルギーなので、台所に置かないでください。",
      exact: "{n} {v}アレルギー",
      asked: "{n}には何のアレルギーがありますか?",
      values: ["ヘーゼルナッツ", "エビ", "ゴマ", "からし"],
    },
    {
      says: "荷物の件ですが、{n}によるとロッカーの暗証番号は{v}です。",
      exact: "ロッカー 暗証番号 {v}",
      asked: "{n}が言ったロッカーの暗証番号は?",
      values: ["7719-B", "4402-K", "1835-Q", "9027-T"],
    },
    {
      says: "{n}は毎週木曜の夜、大人に{v}を教えています。",
      exact: "{n} 大人に{v}",
      asked: "{n}が夜に大人へ教えているのは何?",
      values: ["陶芸", "ポルトガル語", "書道", "溶接"],
    },
    {
      says: "{n}は保護施設から犬を引き取り、{v}と名付けました。",
      exact: "{n} 犬 {v}",
      asked: "{n}が引き取った犬の名前は何でしたか?",
      values: ["ビスケット", "ペッパー", "ワッフル", "ジュノ"],
    },
    {
      says: "歯医者が{n}の予約を{v}に変更しました。",
      exact: "歯医者 {n} 予約 {v}",
      asked: "{n}の歯医者の予約はいつですか?",
      values: ["3月14日", "6月2日", "10月30日", "4月21日"],
    },
    {
      says: "{n}は{v}で手首を骨折して、六週間休まないといけません。",
      exact: "{n} {v} 手首",
      asked: "{n}はどうして手首を骨折したの?",
      values: ["スケート", "ボルダリング", "フェンシング", "サーフィン"],
    },
  ],
  small: [
    [
      "今日は天気がいいので、",
      "昨夜はよく眠れなくて、",
      "仕事がまた忙しくて、",
      "電車が遅れて、",
      "昼はスープで、",
      "携帯が遅くて、",
      "報告書が終わったので、",
      "隣がうるさくて、",
    ],
    [
      "長い散歩をしました",
      "{n}に週末のことで電話しました",
      "でも会議はうまくいきました",
      "隣の家で音がしました",
      "家で本を読みました",
      "角でパンを買いました",
      "{n}から面白い写真が来ました",
      "夕食の予定を変えました",
    ],
    [
      "、公園で。",
      "、暗くなる前に。",
      "、いつも通り。",
      "、ニュースのあとで。",
      "、それだけです。",
      "、帰り道に。",
      "、お茶と一緒に。",
      "、一時間ほど。",
    ],
  ],
  exchange: {
    question: "{n}、最近はどんな楽器を練習していますか?",
    answer: "たいてい{v}です。朝食の前に一時間ほど。",
    asked: "{n}が練習している楽器は?",
    values: ["オーボエ", "チェロ", "ファゴット", "ハープ"],
  },
};

export const CHAT_LANGUAGES: readonly ChatLanguage[] = [english, german, chinese, japanese];
