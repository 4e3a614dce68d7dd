import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CLOCK_TOLERANCE, DAY, MINUTE, SECOND } from '../kit/clock.ts';
import { packedNumbers } from './packed-state.ts';
import { BUSY_MINUTES, OF_MINUTES } from './windows.ts';

/** `decide.lua` as Redis runs it, after the constants that it shares with this process. */
export const decideScript = [
  `local SECOND, MINUTE, DAY, TOLERANCE = ${SECOND}, ${MINUTE}, ${DAY}, ${CLOCK_TOLERANCE}`,
  `local BUSY_MINUTES, OF_MINUTES = ${BUSY_MINUTES}, ${OF_MINUTES}`,
  `local NUMBERS = { ${packedNumbers.map(name => `'${name}'`).join(', ')} }`,
  readFileSync(join(import.meta.dirname, 'decide.lua'), 'utf8'),
].join('\n');
