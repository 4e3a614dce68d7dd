import { findPrograms, isExecutable } from '../../../scripts/find-program.ts';

// The shell has no user interface of its own. The tests take a fifth less processor time with it.
const names = [
  'chromium-headless-shell',
  'chromium',
  'chromium-browser',
  'google-chrome',
  'google-chrome-stable',
];

const onMacs = ['/Applications/Google Chrome.app/Contents/MacOS/Google Chrome'];

/** How to install a browser on a machine that has none. */
export const howToGetChromium =
  'The tests of the console and the portal need Chromium or Chrome: install it ' +
  '(Debian: apt-get install chromium-headless-shell), ' +
  'or set CHROMIUM to its path';

/**
 * The path of Chromium or Chrome: `CHROMIUM`, or else the first one on the `PATH`; `undefined` when none is installed.
 * Throws when `CHROMIUM` is not an executable program.
 */
export function findChromium({ CHROMIUM, PATH } = process.env): string | undefined {
  if (CHROMIUM) {
    if (isExecutable(CHROMIUM)) return CHROMIUM;
    throw new Error(`CHROMIUM is ${JSON.stringify(CHROMIUM)}, which is not a program`);
  }
  return [...findPrograms(names, PATH), ...onMacs.filter(isExecutable)][0];
}
