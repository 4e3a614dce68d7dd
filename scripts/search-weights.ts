/**
 * Writes `service/src/portal/search-weights.json`: how much each word of a question speaks for each page of the portal. The names in
 * `search/` are what developers call the subjects of the pages. A multinomial logistic regression learns from them: of the
 * words that several pages share, it finds those that separate the pages. With `--check` it only compares.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { featuresOf } from '../web/portal/search-terms.js';
import { writeOrCheck } from './written-file.ts';

const ROUNDS = 30;
/** How strongly weights are drawn to 0, so that a single name does not decide. */
const DECAY = 1e-4;
/** The order of the names in a round: a step of a prime number mixes the pages without a random number. */
const STEP = 7919;

/** A weight of a word for a page, and the sum of the squares of its changes, by which its next changes shrink (AdaGrad). */
interface Weight {
  page: number;
  value: number;
  squares: number;
}

/** The names of each page: those of its sections, too. Each error code is a page of its own. */
function namesOfPages(): [page: string, name: string][] {
  return ['guide', 'operations', 'reference'].flatMap(file => {
    const text = readFileSync(join(import.meta.dirname, 'search', `${file}.json`), 'utf8');
    const names: Record<string, string> = JSON.parse(text);
    return Object.entries(names).flatMap(([path, ofPath]) => {
      const page = `/docs${path.startsWith('/errors#') ? path : path.replace(/#.*/, '')}`;
      return ofPath.split(', ').map((name): [string, string] => [page, name]);
    });
  });
}

function learn(names: readonly [page: string, name: string][]) {
  const pages = [...new Set(names.map(([page]) => page))];
  const examples = names.map(([page, name]) => ({ page: pages.indexOf(page), features: featuresOf(name) }));
  // A word has a weight only for pages with a name that contains it.
  const weights = new Map<string, Map<number, Weight>>();
  for (const { page, features } of examples)
    for (const [stem] of features) {
      const ofStem = weights.get(stem) ?? new Map<number, Weight>();
      weights.set(stem, ofStem.set(page, { page, value: 0, squares: 1e-6 }));
    }
  // Lists of weights, because the rounds read them millions of times.
  const lists = new Map(Array.from(weights, ([stem, ofStem]) => [stem, [...ofStem.values()]]));
  const learned = examples.map(({ page, features }) => ({
    page,
    words: features.map(([stem, share]) => ({ share, weights: lists.get(stem)! })),
  }));
  const scores = new Float64Array(pages.length);
  const odds = new Float64Array(pages.length);
  for (let round = 0; round < ROUNDS; round++)
    for (let i = 0; i < learned.length; i++) {
      const { page, words } = learned[(i * STEP) % learned.length]!;
      scores.fill(0);
      for (const { share, weights } of words)
        for (const weight of weights) scores[weight.page]! += share * weight.value;
      const most = scores.reduce((a, b) => Math.max(a, b));
      // Nearly all pages have none of the words.
      const none = Math.exp(-most);
      let sum = 0;
      for (let of = 0; of < scores.length; of++) {
        const score = scores[of]!;
        const ofPage = score === 0 ? none : Math.exp(score - most);
        odds[of] = ofPage;
        sum += ofPage;
      }
      for (const { share, weights } of words)
        for (const weight of weights) {
          const right = weight.page === page ? 1 : 0;
          const change = (odds[weight.page]! / sum - right) * share + DECAY * weight.value;
          weight.squares += change ** 2;
          weight.value -= change / Math.sqrt(weight.squares);
        }
    }
  return { pages, weights };
}

const { pages, weights } = learn(namesOfPages());
const words = Object.fromEntries(
  pages.map((page, of) => [
    page,
    [...weights]
      .flatMap(([stem, ofStem]) => {
        // Steps of one half are fine enough, and take less to transfer.
        const value = Math.round(2 * (ofStem.get(of)?.value ?? 0)) / 2;
        return value === 0 ? [] : `${stem} ${value}`;
      })
      .toSorted()
      .join(','),
  ]),
);
const text = `${JSON.stringify(words, null, 2)}\n`;
writeOrCheck('service/src/portal/search-weights.json', text, 'npm run search');
