import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * Collects the garbage of all generations. This blocks the process: about 20 ms after a start. V8 does so by itself only when the heap
 * grows, and returns memory to the system some seconds afterwards.
 */
export function collectGarbage(): void {
  // Contexts that are created from now on have `gc` (https://nodejs.org/api/v8.html#v8setflagsfromstringflags).
  setFlagsFromString('--expose-gc');
  runInNewContext('gc()');
}
