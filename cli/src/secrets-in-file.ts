import { createReadStream } from 'node:fs';
import { addAbortSignal } from 'node:stream';
import { UsageError } from './failure.ts';

/** The number of secrets in one report. */
export const SECRETS_AT_ONCE = 1_000;

/** The form of the secret of an API key that is not publishable. */
const SECRET = /(?<!\w)psk_(?:test_)?[0-9A-Za-z]{38}(?!\w)/g;

/** More characters than a secret has, with one before and one after it. */
const OVERLAP = 50;

/** Returns the different texts in a file that have the form of a secret. `-` is standard input. The file can be of any size. */
export async function secretsIn(file: string, signal: AbortSignal): Promise<Set<string>> {
  const found = new Set<string>();
  let text = '';
  let isStart = true;
  const find = (isEnd: boolean) => {
    for (const { 0: secret, index } of text.matchAll(SECRET)) {
      // What is before or after it is not known yet: the overlap of two parts has it, too.
      const isWhole = (isStart || index > 0) && (isEnd || index + secret.length < text.length);
      if (isWhole) found.add(secret);
    }
  };
  try {
    const stream = addAbortSignal(signal, file === '-' ? process.stdin : createReadStream(file));
    for await (const part of stream.setEncoding('utf8')) {
      text += part;
      find(false);
      isStart &&= text.length <= OVERLAP;
      text = text.slice(-OVERLAP);
    }
  } catch (error) {
    throw new UsageError(`${file} cannot be read: ${(error as Error).message}`);
  }
  find(true);
  return found;
}
