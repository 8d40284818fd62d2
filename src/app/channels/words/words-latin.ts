/** The bot's words in languages of Latin script. */
import type { ChatCommand } from "../../../contract/channel";

export interface Words {
  readonly start: string;
  /** The heading of the list of commands. */
  readonly help: string;
  readonly commands: Readonly<Record<ChatCommand, string>>;
  readonly reset: string;
  readonly compacting: string;
  readonly nothing_to_compact: string;
  readonly context: (percent: number) => string;
  readonly context_unknown: string;
  readonly undone: string;
  readonly nothing_to_undo: string;
  readonly forget_ask: string;
  /** Where a platform has no buttons. */
  readonly forget_again: string;
  readonly forgotten: string;
  readonly kept: string;
  readonly yes: string;
  readonly no: string;
  readonly approve_ask: (tool: string) => string;
  readonly approved: (tool: string) => string;
  readonly refused: (tool: string) => string;
  readonly no_client_tools: string;
  readonly failed: string;
  /** A message that the session submitted by itself was not answered. */
  readonly schedule_failed: string;
  readonly empty: string;
  readonly busy: string;
  readonly budget: string;
  readonly full: string;
  readonly undelivered: string;
  /** The session's notice `history_trimmed`. */
  readonly trimmed: string;
  readonly stranger: string;
  readonly pair: string;
  readonly paired: string;
}

export const EN: Words = {
  start: "Hello! Write to me, and I answer. I remember what we talk about.",
  help: "What I understand:",
  commands: {
    start: "begin",
    reset: "start a new conversation",
    compact: "shorten what I keep in mind",
    context: "how full my memory is",
    undo: "take back your last message",
    forget: "erase everything we said",
    help: "this list",
  },
  reset: "A new conversation begins. I no longer see the old one.",
  compacting: "I am summarising the older part of our conversation.",
  nothing_to_compact: "There is nothing to summarise yet.",
  context: (percent) => `My memory of this conversation is ${percent} % full.`,
  context_unknown: "I cannot tell how full my memory is.",
  undone: "Your last message and its answer are taken back.",
  nothing_to_undo: "There is nothing to take back.",
  forget_ask: "Shall I erase everything we said? This cannot be undone.",
  forget_again: "Send the command once more within five minutes, and I erase everything we said. This cannot be undone.",
  forgotten: "Everything we said is erased.",
  kept: "Nothing was erased.",
  yes: "Yes",
  no: "No",
  approve_ask: (tool) => `May I run “${tool}”?`,
  approved: (tool) => `“${tool}”: allowed.`,
  refused: (tool) => `“${tool}”: not allowed.`,
  no_client_tools: "I would need a tool for this that I do not have here.",
  failed: "I could not answer just now. Please try again later.",
  schedule_failed: "A scheduled message was due, and I could not answer it.",
  empty: "I have no answer to that.",
  busy: "Too much is going on at the moment. Please try again later.",
  budget: "The budget for my answers is used up at the moment.",
  full: "This conversation can take no more messages. Start a new one.",
  undelivered: "I could not work on your message. Please send it again.",
  trimmed: "The oldest part of our conversation no longer fits into my memory.",
  stranger: "I am not allowed to talk to you here.",
  pair: "Please send me your pairing code first.",
  paired: "You are paired. Write to me, and I answer.",
};

export const DE: Words = {
  start: "Hallo! Schreib mir, und ich antworte. Ich merke mir, worüber wir sprechen.",
  help: "Das verstehe ich:",
  commands: {
    start: "beginnen",
    reset: "ein neues Gespräch beginnen",
    compact: "kürzen, was ich im Sinn habe",
    context: "wie voll mein Gedächtnis ist",
    undo: "deine letzte Nachricht zurücknehmen",
    forget: "alles löschen, was wir sagten",
    help: "diese Liste",
  },
  reset: "Ein neues Gespräch beginnt. Das alte sehe ich nicht mehr.",
  compacting: "Ich fasse den älteren Teil unseres Gesprächs zusammen.",
  nothing_to_compact: "Noch gibt es nichts zusammenzufassen.",
  context: (percent) => `Mein Gedächtnis für dieses Gespräch ist zu ${percent} % voll.`,
  context_unknown: "Ich kann nicht sagen, wie voll mein Gedächtnis ist.",
  undone: "Deine letzte Nachricht und die Antwort darauf sind zurückgenommen.",
  nothing_to_undo: "Es gibt nichts zurückzunehmen.",
  forget_ask: "Soll ich alles löschen, was wir sagten? Das lässt sich nicht rückgängig machen.",
  forget_again: "Sende den Befehl binnen fünf Minuten noch einmal, dann lösche ich alles. Das lässt sich nicht rückgängig machen.",
  forgotten: "Alles, was wir sagten, ist gelöscht.",
  kept: "Es wurde nichts gelöscht.",
  yes: "Ja",
  no: "Nein",
  approve_ask: (tool) => `Darf ich „${tool}“ ausführen?`,
  approved: (tool) => `„${tool}“: erlaubt.`,
  refused: (tool) => `„${tool}“: nicht erlaubt.`,
  no_client_tools: "Dafür bräuchte ich ein Werkzeug, das ich hier nicht habe.",
  failed: "Ich konnte gerade nicht antworten. Bitte versuche es später noch einmal.",
  schedule_failed: "Eine geplante Nachricht war fällig, und ich konnte sie nicht beantworten.",
  empty: "Darauf habe ich keine Antwort.",
  busy: "Im Moment ist zu viel los. Bitte versuche es später noch einmal.",
  budget: "Das Budget für meine Antworten ist im Moment aufgebraucht.",
  full: "Dieses Gespräch nimmt keine Nachrichten mehr auf. Beginne ein neues.",
  undelivered: "Ich konnte deine Nachricht nicht bearbeiten. Bitte sende sie noch einmal.",
  trimmed: "Der älteste Teil unseres Gesprächs passt nicht mehr in mein Gedächtnis.",
  stranger: "Ich darf hier nicht mit dir sprechen.",
  pair: "Bitte sende mir zuerst deinen Kopplungscode.",
  paired: "Du bist gekoppelt. Schreib mir, und ich antworte.",
};

export const FR: Words = {
  start: "Bonjour ! Écrivez-moi et je réponds. Je me souviens de nos échanges.",
  help: "Ce que je comprends :",
  commands: {
    start: "commencer",
    reset: "commencer une nouvelle conversation",
    compact: "raccourcir ce que je garde en tête",
    context: "à quel point ma mémoire est pleine",
    undo: "retirer votre dernier message",
    forget: "effacer tout ce que nous avons dit",
    help: "cette liste",
  },
  reset: "Une nouvelle conversation commence. Je ne vois plus l’ancienne.",
  compacting: "Je résume la partie la plus ancienne de notre conversation.",
  nothing_to_compact: "Il n’y a encore rien à résumer.",
  context: (percent) => `Ma mémoire de cette conversation est pleine à ${percent} %.`,
  context_unknown: "Je ne peux pas dire à quel point ma mémoire est pleine.",
  undone: "Votre dernier message et sa réponse sont retirés.",
  nothing_to_undo: "Il n’y a rien à retirer.",
  forget_ask: "Dois-je effacer tout ce que nous avons dit ? C’est irréversible.",
  forget_again: "Renvoyez la commande dans les cinq minutes et j’efface tout. C’est irréversible.",
  forgotten: "Tout ce que nous avons dit est effacé.",
  kept: "Rien n’a été effacé.",
  yes: "Oui",
  no: "Non",
  approve_ask: (tool) => `Puis-je exécuter « ${tool} » ?`,
  approved: (tool) => `« ${tool} » : autorisé.`,
  refused: (tool) => `« ${tool} » : refusé.`,
  no_client_tools: "Il me faudrait pour cela un outil que je n’ai pas ici.",
  failed: "Je n’ai pas pu répondre. Veuillez réessayer plus tard.",
  schedule_failed: "Un message programmé était prévu, et je n’ai pas pu y répondre.",
  empty: "Je n’ai pas de réponse à cela.",
  busy: "Il y a trop d’activité en ce moment. Veuillez réessayer plus tard.",
  budget: "Le budget de mes réponses est épuisé pour le moment.",
  full: "Cette conversation n’accepte plus de messages. Commencez-en une nouvelle.",
  undelivered: "Je n’ai pas pu traiter votre message. Veuillez le renvoyer.",
  trimmed: "La partie la plus ancienne de notre conversation ne tient plus dans ma mémoire.",
  stranger: "Je n’ai pas le droit de vous parler ici.",
  pair: "Envoyez-moi d’abord votre code d’appairage.",
  paired: "Vous êtes appairé. Écrivez-moi et je réponds.",
};

export const ES: Words = {
  start: "¡Hola! Escríbeme y te respondo. Recuerdo lo que hablamos.",
  help: "Lo que entiendo:",
  commands: {
    start: "empezar",
    reset: "empezar una conversación nueva",
    compact: "acortar lo que tengo presente",
    context: "cuán llena está mi memoria",
    undo: "retirar tu último mensaje",
    forget: "borrar todo lo que dijimos",
    help: "esta lista",
  },
  reset: "Empieza una conversación nueva. Ya no veo la anterior.",
  compacting: "Estoy resumiendo la parte más antigua de nuestra conversación.",
  nothing_to_compact: "Todavía no hay nada que resumir.",
  context: (percent) => `Mi memoria de esta conversación está llena al ${percent} %.`,
  context_unknown: "No puedo decir cuán llena está mi memoria.",
  undone: "Tu último mensaje y su respuesta se han retirado.",
  nothing_to_undo: "No hay nada que retirar.",
  forget_ask: "¿Borro todo lo que dijimos? No se puede deshacer.",
  forget_again: "Envía el comando otra vez en cinco minutos y lo borro todo. No se puede deshacer.",
  forgotten: "Todo lo que dijimos está borrado.",
  kept: "No se ha borrado nada.",
  yes: "Sí",
  no: "No",
  approve_ask: (tool) => `¿Puedo ejecutar «${tool}»?`,
  approved: (tool) => `«${tool}»: permitido.`,
  refused: (tool) => `«${tool}»: no permitido.`,
  no_client_tools: "Para eso necesitaría una herramienta que no tengo aquí.",
  failed: "No he podido responder. Inténtalo de nuevo más tarde.",
  schedule_failed: "Había un mensaje programado y no he podido responderlo.",
  empty: "No tengo respuesta para eso.",
  busy: "Hay demasiada actividad en este momento. Inténtalo de nuevo más tarde.",
  budget: "El presupuesto para mis respuestas está agotado por ahora.",
  full: "Esta conversación no admite más mensajes. Empieza una nueva.",
  undelivered: "No he podido atender tu mensaje. Envíalo de nuevo, por favor.",
  trimmed: "La parte más antigua de nuestra conversación ya no cabe en mi memoria.",
  stranger: "No puedo hablar contigo aquí.",
  pair: "Envíame primero tu código de vinculación.",
  paired: "Ya estás vinculado. Escríbeme y te respondo.",
};

export const PT: Words = {
  start: "Olá! Escreva-me e eu respondo. Lembro-me do que conversamos.",
  help: "O que eu entendo:",
  commands: {
    start: "começar",
    reset: "começar uma nova conversa",
    compact: "encurtar o que tenho em mente",
    context: "quão cheia está a minha memória",
    undo: "retirar a sua última mensagem",
    forget: "apagar tudo o que dissemos",
    help: "esta lista",
  },
  reset: "Uma nova conversa começa. Já não vejo a anterior.",
  compacting: "Estou a resumir a parte mais antiga da nossa conversa.",
  nothing_to_compact: "Ainda não há nada para resumir.",
  context: (percent) => `A minha memória desta conversa está ${percent} % cheia.`,
  context_unknown: "Não consigo dizer quão cheia está a minha memória.",
  undone: "A sua última mensagem e a resposta foram retiradas.",
  nothing_to_undo: "Não há nada para retirar.",
  forget_ask: "Devo apagar tudo o que dissemos? Não pode ser desfeito.",
  forget_again: "Envie o comando mais uma vez em cinco minutos e apago tudo. Não pode ser desfeito.",
  forgotten: "Tudo o que dissemos foi apagado.",
  kept: "Nada foi apagado.",
  yes: "Sim",
  no: "Não",
  approve_ask: (tool) => `Posso executar “${tool}”?`,
  approved: (tool) => `“${tool}”: permitido.`,
  refused: (tool) => `“${tool}”: não permitido.`,
  no_client_tools: "Para isso eu precisaria de uma ferramenta que não tenho aqui.",
  failed: "Não consegui responder agora. Tente novamente mais tarde.",
  schedule_failed: "Havia uma mensagem agendada e não consegui responder-lhe.",
  empty: "Não tenho resposta para isso.",
  busy: "Há demasiada atividade neste momento. Tente novamente mais tarde.",
  budget: "O orçamento das minhas respostas está esgotado por agora.",
  full: "Esta conversa não aceita mais mensagens. Comece uma nova.",
  undelivered: "Não consegui tratar a sua mensagem. Envie-a novamente, por favor.",
  trimmed: "A parte mais antiga da nossa conversa já não cabe na minha memória.",
  stranger: "Não posso falar consigo aqui.",
  pair: "Envie-me primeiro o seu código de emparelhamento.",
  paired: "Está emparelhado. Escreva-me e eu respondo.",
};

export const IT: Words = {
  start: "Ciao! Scrivimi e ti rispondo. Ricordo ciò di cui parliamo.",
  help: "Che cosa capisco:",
  commands: {
    start: "iniziare",
    reset: "iniziare una nuova conversazione",
    compact: "abbreviare ciò che tengo a mente",
    context: "quanto è piena la mia memoria",
    undo: "ritirare il tuo ultimo messaggio",
    forget: "cancellare tutto ciò che abbiamo detto",
    help: "questo elenco",
  },
  reset: "Inizia una nuova conversazione. Non vedo più quella vecchia.",
  compacting: "Sto riassumendo la parte più vecchia della nostra conversazione.",
  nothing_to_compact: "Non c’è ancora niente da riassumere.",
  context: (percent) => `La mia memoria di questa conversazione è piena al ${percent} %.`,
  context_unknown: "Non so dire quanto sia piena la mia memoria.",
  undone: "Il tuo ultimo messaggio e la risposta sono ritirati.",
  nothing_to_undo: "Non c’è niente da ritirare.",
  forget_ask: "Devo cancellare tutto ciò che abbiamo detto? Non si può annullare.",
  forget_again: "Invia il comando ancora una volta entro cinque minuti e cancello tutto. Non si può annullare.",
  forgotten: "Tutto ciò che abbiamo detto è cancellato.",
  kept: "Non è stato cancellato niente.",
  yes: "Sì",
  no: "No",
  approve_ask: (tool) => `Posso eseguire «${tool}»?`,
  approved: (tool) => `«${tool}»: consentito.`,
  refused: (tool) => `«${tool}»: non consentito.`,
  no_client_tools: "Per questo mi servirebbe uno strumento che qui non ho.",
  failed: "Non sono riuscito a rispondere. Riprova più tardi.",
  schedule_failed: "Era previsto un messaggio programmato e non sono riuscito a rispondere.",
  empty: "Non ho una risposta a questo.",
  busy: "C’è troppo traffico in questo momento. Riprova più tardi.",
  budget: "Il budget per le mie risposte è esaurito per ora.",
  full: "Questa conversazione non accetta altri messaggi. Iniziane una nuova.",
  undelivered: "Non sono riuscito a elaborare il tuo messaggio. Invialo di nuovo, per favore.",
  trimmed: "La parte più vecchia della nostra conversazione non entra più nella mia memoria.",
  stranger: "Qui non posso parlare con te.",
  pair: "Inviami prima il tuo codice di abbinamento.",
  paired: "Ora sei abbinato. Scrivimi e ti rispondo.",
};
