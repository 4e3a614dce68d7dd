/** Parts of words that name a kind of animal in a category: English, German, French, Spanish, Italian, Portuguese, Dutch. `\b` ends a word. */
const words = {
  dog: String.raw`dogs?\b|pupp|hunde?\b|welpe|chiens?\b|chiot|perr[oa]s?\b|cachorr|cani\b|cane\b|cagnol|cao\b|caes\b|honden?\b`,
  cat: String.raw`cats?\b|kitten|katze|chats?\b|chaton|gat[ao]s?\b|gatt[io]\b|katten?\b`,
  rabbit: String.raw`rabbit|bunn|hasen?\b|kaninchen|lapin|conej|conigli|coelh|konijn`,
  rodent: String.raw`rodent|hamster|mouse|mice\b|rats?\b|gerbil|guinea pig|chinchilla|nager|nagetier|mause?\b|meerschwein|ratten?\b|rongeur|souris|cochons? d|cobay|roedor|raton|criceti?\b|roditor|knaagdier|cavia`,
  bird: String.raw`birds?\b|parrot|finch|canar|budg|vogel|papagei|sittich|oiseau|perroquet|perruche|pajar|aves?\b|loros?\b|uccell|pappagall|passaro|papagai`,
  fish: String.raw`fish|\w*fisch|poisson|pez\b|peces\b|pesc[ei]\b|peixe|vissen\b|\w+fish\b|aquari`,
  reptile: String.raw`reptil|gecko|snake|lizard|tortoise|turtle|schlange|echse|schildkrot|serpent|lezard|tortue|lagart|tortug|rettil|tartarug|slangen?\b|schildpad|hagediss`,
  amphibian: String.raw`amphib|frogs?\b|toads?\b|newt|axolotl|frosch|kroten?\b|molch|grenouille|crapaud|anfib|ranas?\b|sapos?\b|kikker`,
  insect: String.raw`insect|insekt|invertebr|wirbellos|spider|spinnen?\b|tarantul|crab|krebs|shrimp|garnel|snail|schneck|araign|crevette|escargot|arana|caracol|ragn[io]\b`,
  horse: String.raw`horse|pony\b|ponies|ponys|pferd|cheva(l|ux)\b|caball|cavall|cavalo|paard`,
} as const;

export type Species = keyof typeof words;

const patterns = Object.entries(words).map(
  ([species, parts]) => [species as Species, new RegExp(String.raw`\b(${parts})`)] as const,
);

/** Returns the kind of animal that the name of a category mentions; `undefined` if it mentions none, or several. */
export function speciesIn(name: string): Species | undefined {
  const text = name
    .normalize('NFKD')
    .replaceAll(/\p{Mn}/gu, '')
    .toLowerCase();
  const found = patterns.filter(([, pattern]) => pattern.test(text));
  return found.length === 1 ? found[0]![0] : undefined;
}
