import type { Plants } from "./plant.ts";

export const german: Plants = {
  instruction: [
    {
      says: "Schreib ab jetzt auf jeden Brief nach {n} das Zeichen {v}.",
      asked: "Welches Zeichen gehört auf einen Brief nach {n}?",
    },
    {
      says: "Geh immer die Prüfliste {v} durch, bevor du {n} einen Termin zusagst.",
      asked: "Welche Prüfliste kommt vor einem Termin für {n}?",
    },
    {
      says: "Antworte der Presse in {n} nie ohne den Wortlaut von Blatt {v}.",
      asked: "Auf welchem Blatt steht der Wortlaut für die Presse in {n}?",
    },
  ],
  decision: [
    {
      says: "Wir haben entschieden, dass die Spedition {v} die Ware nach {n} bringt.",
      later: "Wir haben anders entschieden: die Spedition {v} bringt die Ware nach {n}.",
      asked: "Welche Spedition bringt die Ware nach {n}?",
    },
    {
      says: "Es steht fest, dass die Schulung in {n} in Raum {v} stattfindet.",
      later: "Das hat sich geändert, die Schulung in {n} findet jetzt in Raum {v} statt.",
      asked: "In welchem Raum findet die Schulung in {n} statt?",
    },
    {
      says: "Für das Dach in {n} haben wir das Angebot {v} gewählt.",
      later: "Für das Dach in {n} haben wir neu gewählt, und zwar das Angebot {v}.",
      asked: "Welches Angebot haben wir für das Dach in {n} gewählt?",
    },
  ],
  identifier: [
    { says: "Der Export von {n} liegt unter {v} auf dem alten Server.", asked: "Wo liegt der Export von {n}?", form: "path" },
    { says: "Der Mietvertrag in {n} ist frühestens am {v} kündbar.", asked: "Wann ist der Mietvertrag in {n} kündbar?", form: "date" },
    {
      says: "Der Schaden in {n} wurde vom Gutachter auf {v} Euro geschätzt.",
      asked: "Auf wie viel hat der Gutachter den Schaden in {n} geschätzt?",
      form: "amount",
    },
    {
      says: "Die Lieferung nach {n} hat bei der Spedition die Kennung {v}.",
      asked: "Welche Kennung hat die Lieferung nach {n}?",
      form: "id",
    },
  ],
  task: [
    {
      says: "Noch zu tun: den Zaun in {n} streichen, Vorgang {v}.",
      later: "Erledigt: der Zaun in {n} ist gestrichen, Bericht {v}.",
      asked: "Wie steht es um den Zaun in {n}, der zu streichen war?",
    },
    {
      says: "Jemand muss noch den Kessel in {n} tauschen, Auftrag {v}.",
      later: "Der Kessel in {n} wurde getauscht, Beleg {v}.",
      asked: "Wie ist der Stand beim Kessel in {n}?",
    },
    {
      says: "Offene Aufgabe für {n}: die Leitern prüfen lassen, Liste {v}.",
      later: "Die Leitern in {n} wurden geprüft und die Aufgabe ist geschlossen, Protokoll {v}.",
      asked: "Was wurde aus der Aufgabe, die Leitern in {n} prüfen zu lassen?",
    },
  ],
};
