import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { speciesIn } from './species.ts';

describe('the kind of animal in the name of a category', () => {
  it('is found in several languages, with accents and in compounds', () => {
    const names = {
      dog: ['Dogs', 'Hunde', 'Chiens', 'Perros', 'Cães', 'Puppies'],
      cat: ['Cats', 'Katzen', 'Chats et chatons', 'Gatos', 'Gatti'],
      rabbit: ['Rabbits', 'Zwerg-Kaninchen', 'Lapins', 'Conejos'],
      rodent: ['Small rodents', 'Nagetiere', 'Meerschweinchen', 'Souris', 'Cochons d’Inde'],
      bird: ['Birds', 'Vögel', 'Oiseaux', 'Pájaros', 'Uccelli', 'Perroquets'],
      fish: ['Freshwater fish', 'Zierfische', 'Goldfish', 'Poissons', 'Peces', 'Catfish'],
      reptile: ['Reptiles', 'Schildkröten', 'Tortugas', 'Geckos'],
      amphibian: ['Amphibians', 'Frösche und Lurche', 'Ranas'],
      insect: ['Invertebrates', 'Insekten', 'Araignées'],
      horse: ['Ponies', 'Pferde', 'Chevaux'],
    };
    for (const [species, all] of Object.entries(names))
      for (const name of all) assert.equal(speciesIn(name), species, name);
  });

  it('is unknown if the name has several, or other words that begin alike', () => {
    for (const name of ['Cats & dogs', 'Cattle', 'Caterpillars', 'Ratings', 'Accessories', 'Dogma', '犬'])
      assert.equal(speciesIn(name), undefined, name);
  });
});
