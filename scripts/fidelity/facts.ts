/** Planted facts: a fact is a sentence with a unique value, and two questions that ask for it. */
export interface FactPattern {
  /** `{n}`: the subject. `{v}`: the value. */
  readonly says: string;
  /** A question in the fact's own words. */
  readonly exact: string;
  /** A question that shares only some words with the fact. */
  readonly asked: string;
  /** A sentence that resembles the fact and contains another value (`{v}`) or none. */
  readonly distracts: string;
}

export interface FactLanguage {
  /** The language's name in `scripts/recall/languages`, which has the small talk. */
  readonly name: string;
  readonly places: readonly string[];
  readonly facts: readonly FactPattern[];
  /** The line of a tool's result that contains the value, and the questions about it. `{m}` is the call's argument, `{x}` its execution. */
  readonly result: { readonly line: string; readonly byWords: string; readonly byExecution: string };
}

const english: FactLanguage = {
  name: "English",
  places: ["Lyon", "Porto", "Gdansk", "Tartu", "Bergen", "Split", "Ghent", "Graz"],
  facts: [
    {
      says: "The gate code of the depot in {n} is {v} since Monday.",
      exact: "What is the gate code of the depot in {n} since Monday?",
      asked: "Which code opens the gate at the {n} depot?",
      distracts: "The gate code of the depot in {n} was {v} before the flood.",
    },
    {
      says: "Our contact at the {n} office can be reached on extension {v}.",
      exact: "On which extension can our contact at the {n} office be reached?",
      asked: "What is the extension of the contact in {n}?",
      distracts: "The contact at the {n} office asked for a new extension again.",
    },
    {
      says: "The budget that was approved for {n} comes to {v} euros.",
      exact: "To how many euros comes the budget that was approved for {n}?",
      asked: "How large was the approved budget of {n}?",
      distracts: "A budget of {v} euros was refused for {n}.",
    },
    {
      says: "The spare key for the archive in {n} hangs on hook {v}.",
      exact: "On which hook hangs the spare key for the archive in {n}?",
      asked: "Where do they keep the archive's spare key in {n}?",
      distracts: "The archive in {n} has no lift, and the key is heavy.",
    },
    {
      says: "The invoice for the repairs in {n} was booked under {v}.",
      exact: "Under what was the invoice for the repairs in {n} booked?",
      asked: "Which number has the invoice of the {n} repair?",
      distracts: "The invoice for the windows in {n} was booked under {v}.",
    },
  ],
  result: { line: "reading: {v}", byWords: "What is the reading of meter {m}?", byExecution: "What is the reading in {x}?" },
};

const german: FactLanguage = {
  name: "German",
  places: ["Ulm", "Jena", "Passau", "Emden", "Görlitz", "Kassel", "Trier", "Husum"],
  facts: [
    {
      says: "Der Torcode des Lagers in {n} lautet seit Montag {v}.",
      exact: "Wie lautet seit Montag der Torcode des Lagers in {n}?",
      asked: "Mit welchem Torcode öffnet man das Lager {n}?",
      distracts: "Der Torcode des Lagers in {n} lautete vor dem Umbau {v}.",
    },
    {
      says: "Unsere Ansprechpartnerin im Büro {n} hat die Durchwahl {v}.",
      exact: "Welche Durchwahl hat unsere Ansprechpartnerin im Büro {n}?",
      asked: "Unter welcher Durchwahl erreiche ich das Büro {n}?",
      distracts: "Das Büro {n} hat um eine neue Durchwahl gebeten.",
    },
    {
      says: "Das genehmigte Budget für {n} beträgt {v} Euro.",
      exact: "Wie viel Euro beträgt das genehmigte Budget für {n}?",
      asked: "Welches Budget wurde für {n} genehmigt?",
      distracts: "Ein Budget von {v} Euro wurde für {n} abgelehnt.",
    },
    {
      says: "Der Ersatzschlüssel für das Archiv in {n} hängt an Haken {v}.",
      exact: "An welchem Haken hängt der Ersatzschlüssel für das Archiv in {n}?",
      asked: "Wo finde ich in {n} den Ersatzschlüssel des Archivs?",
      distracts: "Das Archiv in {n} hat keinen Aufzug, und der Schlüssel ist schwer.",
    },
    {
      says: "Die Rechnung für die Reparaturen in {n} wurde unter {v} gebucht.",
      exact: "Unter was wurde die Rechnung für die Reparaturen in {n} gebucht?",
      asked: "Welche Nummer trägt die Rechnung der Reparatur in {n}?",
      distracts: "Die Rechnung für die Fenster in {n} wurde unter {v} gebucht.",
    },
  ],
  result: {
    line: "Zählerstand: {v}",
    byWords: "Wie ist der Zählerstand von {m}?",
    byExecution: "Welcher Zählerstand steht in {x}?",
  },
};

const chinese: FactLanguage = {
  name: "Chinese",
  places: ["大连", "苏州", "昆明", "桂林", "厦门", "洛阳", "拉萨", "敦煌"],
  facts: [
    {
      says: "{n}仓库的大门密码从周一起改为{v}。",
      exact: "{n}仓库的大门密码从周一起改为什么？",
      asked: "{n}仓库的大门密码是多少？",
      distracts: "{n}仓库的大门密码以前是{v}，现在不用了。",
    },
    {
      says: "我们在{n}办事处的联系人分机号是{v}。",
      exact: "我们在{n}办事处的联系人分机号是什么？",
      asked: "怎么拨打{n}办事处的分机？",
      distracts: "{n}办事处又申请了新的分机。",
    },
    {
      says: "{n}项目批准的预算为{v}元。",
      exact: "{n}项目批准的预算为什么数？",
      asked: "{n}项目的预算有多少？",
      distracts: "{n}项目的预算曾经报过{v}元，没有通过。",
    },
    {
      says: "{n}档案室的备用钥匙挂在{v}号钩子上。",
      exact: "{n}档案室的备用钥匙挂在哪号钩子上？",
      asked: "去哪里拿{n}档案室的钥匙？",
      distracts: "{n}档案室没有电梯，钥匙也很重。",
    },
    {
      says: "{n}维修费的发票记在{v}号下面。",
      exact: "{n}维修费的发票记在哪号下面？",
      asked: "{n}的维修发票是哪一号？",
      distracts: "{n}窗户的发票记在{v}号下面。",
    },
  ],
  result: { line: "读数：{v}", byWords: "{m} 的读数是多少？", byExecution: "{x} 的读数是多少？" },
};

const japanese: FactLanguage = {
  name: "Japanese",
  places: ["函館", "金沢", "松本", "高知", "奈良", "別府", "長崎", "盛岡"],
  facts: [
    {
      says: "{n}倉庫のゲートの暗証番号は月曜日から{v}になりました。",
      exact: "{n}倉庫のゲートの暗証番号は月曜日から何になりましたか？",
      asked: "{n}倉庫の暗証番号を教えてくれますか？",
      distracts: "{n}倉庫のゲートの暗証番号は以前{v}でした。",
    },
    {
      says: "{n}事務所の担当者の内線番号は{v}です。",
      exact: "{n}事務所の担当者の内線番号は何ですか？",
      asked: "{n}事務所の内線は何番ですか？",
      distracts: "{n}事務所がまた新しい内線を頼みました。",
    },
    {
      says: "{n}の工事に承認された予算は{v}万円です。",
      exact: "{n}の工事に承認された予算は何万円ですか？",
      asked: "{n}の工事の予算はいくらですか？",
      distracts: "{n}の工事の予算として{v}万円は却下されました。",
    },
    {
      says: "{n}の資料室の合鍵はフック{v}に掛かっています。",
      exact: "{n}の資料室の合鍵はどのフックに掛かっていますか？",
      asked: "{n}の資料室の合鍵はどこにありますか？",
      distracts: "{n}の資料室にはエレベーターがなく、鍵も重いです。",
    },
    {
      says: "{n}の修理の請求書は{v}として記帳しました。",
      exact: "{n}の修理の請求書は何として記帳しましたか？",
      asked: "{n}の修理請求書の番号は何ですか？",
      distracts: "{n}の窓の請求書は{v}として記帳しました。",
    },
  ],
  result: { line: "検針値：{v}", byWords: "{m} の検針値は何ですか？", byExecution: "{x} の検針値は何ですか？" },
};

export const factLanguages: readonly FactLanguage[] = [english, german, chinese, japanese];
