import { findPrograms, isExecutable } from '../../../scripts/find-program.ts';

const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

const onMacs = ['/Applications/Google Chrome.app/Contents/MacOS/Google Chrome'];

/** How to install a browser where there is none. */
export const howToGetChromium =
  'The tests of the portal need Chromium or Chrome: install it (Debian: apt-get install chromium), ' +
  'or set CHROMIUM to its path';

/**
 * The path of Chromium or Chrome: `CHROMIUM`, or else the first one on the `PATH`; `undefined` where there is none.
 * Throws when `CHROMIUM` names no program.
 */
export function findChromium({ CHROMIUM, PATH } = process.env): string | undefined {
  if (CHROMIUM) {
    if (isExecutable(CHROMIUM)) return CHROMIUM;
    throw new Error(`CHROMIUM is ${JSON.stringify(CHROMIUM)}, which is no program`);
  }
  return [...findPrograms(names, PATH), ...onMacs.filter(isExecutable)][0];
}
