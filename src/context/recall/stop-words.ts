/**
 * Stop words by language: frequent words that say little about a text's topic. They show which language a text is in,
 * and are left out of questions and of the index's stems. Lower case and not folded, as `splitWords` returns words.
 */
export const LATIN_LANGUAGES = ["en", "de", "fr", "es", "pt", "it", "nl"] as const;
type LatinLanguage = (typeof LATIN_LANGUAGES)[number];
export type Language = LatinLanguage | "ru";

const words = (text: string): ReadonlySet<string> => new Set(text.split(/\s+/));

export const STOP_WORDS: Readonly<Record<Language, ReadonlySet<string>>> = {
  en: words(
    `a about above after again against all also am an and any are aren as at be because been before being below between both but by can
    cannot could couldn did didn do does doesn doing don down during each else ever few for from further get got had hadn has hasn have
    haven having he her here hers herself him himself his how i if in into is isn it its itself just ll me mine more most much my myself
    no nor not of off on once only or other our ours ourselves out over own please re same shall she should shouldn so some such tell than
    that the their theirs them themselves then there these they this those through to too under until up us ve very was wasn we were
    weren what when where which while who whom whose why will with would wouldn you your yours yourself yourselves`,
  ),
  de: words(
    `aber alle allem allen aller alles als also am an ander andere anderen auch auf aus bei bin bis bist bitte da damit dann das dass dein
    deine dem den denn der des dich die dies diese diesem diesen dieser dieses dir doch dort du durch ein eine einem einen einer eines
    er es etwas euch euer für gegen gewesen hab habe haben hat hatte hatten hier hin hinter ich ihm ihn ihnen ihr ihre ihrem ihren ihrer
    im in ins ist ja jede jedem jeden jeder jedes jetzt kann kannst kein keine keinen können könnte machen man mein meine meinem meinen
    meiner mich mir mit muss nach nicht nichts noch nun nur ob oder ohne sag schon sehr sein seine seinem seinen seiner seit selbst sich
    sie sind so soll sollte sondern über um und uns unser unsere unter viel vom von vor war waren warst was wann warum weil welche welchem
    welchen welcher welches wem wen wenn wer werde werden wessen wie wieder wieviel will wir wird wirst wo woher wohin wollen wollte
    womit wurde wurden würde würden zu zum zur zwar zwischen`,
  ),
  fr: words(
    `à ai ainsi alors as au aucun aussi autre aux avait avec avez avoir avons c ce cela ces cet cette ceux chez ci comme comment d dans de
    depuis des donc dont du elle elles en encore es est et étaient était être eu il ils j je jusqu l la là le les leur leurs lors lui m ma
    mais me même mes moi mon n ne ni nos notre nous on ont ou où par parce pas pendant peu peut plus pour pourquoi qu quand que quel quelle
    quelles quels qui quoi s sa sans se sera ses si son sont sous sur t ta te tes toi ton tous tout toute toutes très tu un une vos votre
    vous y`,
  ),
  es: words(
    `a al algo ante antes aquí así aunque cada como cómo con contra cual cuál cuándo cuando cuánto cuántos de del desde donde dónde dos
    durante e el él ella ellas ellos en entre era eran es esa ese eso esta está están estas este esto estos fue fueron ha había han has hasta
    hay he la las le les lo los más me mi mí mis mucho muy nada ni no nos nosotros o os otra otro para pero por porque qué que quien quién se
    sea ser si sí sido sin sobre son su sus también tan te tiene todo todos tu tú tus un una uno unos usted y ya yo`,
  ),
  pt: words(
    `a ao aos aquela aquele aqui as até com como da das de dela dele depois do dos e é ela elas ele eles em então entre era essa esse esta está
    este eu foi foram há isso isto já lhe mais mas me mesmo meu meus minha muito na não nas nem no nos nós nossa nosso num numa o onde os ou
    para pela pelas pelo pelos por porque qual quando quanto quantos que quem se sem ser seu seus só sua suas também te tem tinha todo todos tu
    um uma você vocês`,
  ),
  it: words(
    `a ad agli ai al alla alle allo anche ancora avere c che chi ci come con contro cosa cui d da dagli dai dal dalla dalle dei degli del della
    delle dello di dopo dove e è ed era erano essere fa fino fra già gli ha hai hanno ho i il in io l la le lei lo loro lui ma me mi mia mie miei
    mio molto ne negli nei nel nella nelle noi non nostra nostro o ogni per perché più poi quale quali quando quanti quanto quella quello questa
    questo qui se sei senza si sia siamo sono sta su sua sue sui sul sulla suo suoi te ti tra tu tua tuo tutti tutto un una uno vi voi`,
  ),
  nl: words(
    `aan al alles als altijd andere ben bij daar dan dat de der deze die dit doch doen door dus een en er ge geen geweest haar had heb hebben
    heeft hem het hier hij hoe hoeveel hun iemand iets ik in is ja je jij jouw kan kon kunnen maar me meer men met mij mijn moet na naar niet
    niets nog nu of om omdat ons onze ook op over reeds te tegen toch toen tot u uit uw van veel voor waar waarom wanneer want waren was wat we
    welk welke wel werd wie wij wil worden wordt ze zelf zich zij zijn zo zonder zou`,
  ),
  ru: words(
    `а без бы был была были было быть в вам вас весь во вот все всё всех вы где да даже для до его ее её если есть еще ещё же за здесь и из или
    им их к как какая какие какой когда кого кто ли либо между меня мне может мой моя мы на над наш не него нее неё нет ни них но ну о об он она
    они оно от по под почему при с свой себя сейчас сколько со так также там то тогда того тоже только том ты у уже хотя чего чей чем что чтобы
    чья эта эти это этот я`,
  ),
};

/** Han and kana characters that ask or join. A pair with one of them shows how something is asked, seldom what. */
const CJK_FUNCTION = new Set("的了吗呢吧啊么什哪谁怎是在我你您他她它们这那个和与也都就还请很着过被把を はがのにへとでもやかねよだ");
/** Pairs of kana that end or join a clause. */
const KANA_PAIRS = new Set(
  "です ます した して しま まし でし です ました いる ある ない った って たか すか ましたか から まで なに どこ いつ だれ どの どん こと もの という いう".split(
    " ",
  ),
);

const isHiragana = (text: string): boolean => /^\p{sc=Hiragana}+$/u.test(text);

/** Whether a question is better searched without this pair of characters. */
export const isFunctionPair = (pair: string): boolean =>
  isHiragana(pair) || KANA_PAIRS.has(pair) || [...pair].some((character) => CJK_FUNCTION.has(character));
