/**
 * Writes `service/src/portal/search-weights.json`: how much each word of a question speaks for each page of the portal. The names in
 * `search/` are what developers call the subjects of the pages. A multinomial logistic regression learns from them: of the
 * words that several pages share, it finds those that separate the pages. With `--check` it only compares.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { featuresOf } from '../web/portal/search-terms.js';

const FILE = join(import.meta.dirname, '../service/src/portal/search-weights.json');
const ROUNDS = 30;
/** How strongly weights are drawn to 0, so that a single name does not decide. */
const DECAY = 1e-4;
/** The order of the names in a round: a step of a prime number mixes the pages without a random number. */
const STEP = 7919;

/** A weight, and the sum of the squares of its changes, by which its next changes shrink (AdaGrad). */
interface Weight {
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
      weights.set(stem, ofStem.set(page, { value: 0, squares: 1e-6 }));
    }
  for (let round = 0; round < ROUNDS; round++)
    for (let i = 0; i < examples.length; i++) {
      const { page, features } = examples[(i * STEP) % examples.length]!;
      const scores = new Float64Array(pages.length);
      for (const [stem, share] of features)
        for (const [of, { value }] of weights.get(stem)!) scores[of]! += share * value;
      const most = Math.max(...scores);
      const odds = scores.map(score => Math.exp(score - most));
      const sum = odds.reduce((a, b) => a + b);
      for (const [stem, share] of features)
        for (const [of, weight] of weights.get(stem)!) {
          const change = (odds[of]! / sum - (of === page ? 1 : 0)) * share + DECAY * weight.value;
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
if (!process.argv.includes('--check')) writeFileSync(FILE, text);
else if (readFileSync(FILE, 'utf8') !== text) {
  process.stderr.write('The weights of the search are not those of its names. Run: npm run search\n');
  process.exitCode = 1;
}
