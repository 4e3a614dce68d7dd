import { addAbortSignal } from 'node:stream';
import { text } from 'node:stream/consumers';

/** Reads standard input to its end. The call of `fs` would fail while nothing has arrived, and Ctrl-C would not end it. */
export function readStandardInput(signal: AbortSignal): Promise<string> {
  return text(addAbortSignal(signal, process.stdin));
}
