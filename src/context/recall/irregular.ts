/**
 * Irregular English forms and synonyms that no stemmer unites: a question asks "When did she buy it", and the answer
 * says "bought". Each entry of the table: the word, then its other forms.
 */
const TABLE = `
be was were been is are am;become became;begin began begun;bite bit bitten;blow blew blown;break broke broken;bring brought;build built;
burn burnt;buy bought;catch caught;choose chose chosen;come came;deal dealt;dig dug;do did done;draw drew drawn;dream dreamt;drink drank drunk;
drive drove driven;eat ate eaten;fall fell fallen;feed fed;feel felt;fight fought;find found;fly flew flown;forget forgot forgotten;
forgive forgave forgiven;freeze froze frozen;get got gotten;give gave given;go went gone;grow grew grown;hang hung;hear heard;hide hid hidden;
hold held;keep kept;know knew known;lay laid;lead led;learn learnt;leave left;lend lent;lose lost;make made;mean meant;meet met;pay paid;
ride rode ridden;ring rang rung;rise rose risen;run ran;say said;see saw seen;seek sought;sell sold;send sent;shake shook shaken;shine shone;
shoot shot;show shown;shrink shrank shrunk;sing sang sung;sink sank sunk;sit sat;sleep slept;slide slid;speak spoke spoken;spend spent;
spin spun;stand stood;steal stole stolen;stick stuck;strike struck;swear swore sworn;sweep swept;swim swam swum;swing swung;take took taken;
teach taught;tear tore torn;tell told;think thought;throw threw thrown;understand understood;wake woke woken;wear wore worn;win won;wind wound;
write wrote written;child children kid kids;man men;woman women;foot feet;tooth teeth;mouse mice;person people;wife wives;life lives;knife knives;
leaf leaves;mother mom mum mommy mama;father dad daddy papa;photo photograph picture pic;movie film;bike bicycle;phone telephone;
tv television;fridge refrigerator;doctor dr;apartment flat;holiday vacation;favorite favourite;color colour;one 1;two 2;three 3;four 4;five 5;
six 6;seven 7;eight 8;nine 9;ten 10;eleven 11;twelve 12`;

const lemmas: ReadonlyMap<string, string> = new Map(
  TABLE.trim()
    .split(/;\s*/)
    .flatMap((line) => {
      const [lemma = "", ...forms] = line.split(" ");
      return forms.map((form): [string, string] => [form, lemma]);
    }),
);

/** The word that `word` is a form of. `word` itself if the table has none. */
export const findLemma = (word: string): string => lemmas.get(word) ?? word;
