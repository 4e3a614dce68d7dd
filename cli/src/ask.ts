import { read } from 'read';

/** Whether a person can respond: a script must not wait for one. After the API key, standard input is at its end. */
export const canAsk = (): boolean =>
  process.stdin.isTTY && !process.stdin.readableEnded && process.stderr.isTTY;

/** Asks on standard error, because standard output is for data. Ctrl-C throws the reason of the signal. */
export async function ask(
  signal: AbortSignal | undefined,
  question: { prompt: string; default?: string; silent?: boolean },
): Promise<string> {
  try {
    return (await read({ ...question, output: process.stderr })).trim();
  } catch (error) {
    // The terminal delivers Ctrl-C as a key, not as a signal.
    if ((error as Error).message === 'canceled') process.emit('SIGINT');
    throw signal?.reason ?? error;
  }
}

/** Asks whether to do something. Throws if the response is not yes. */
export async function confirm(signal: AbortSignal | undefined, question: string): Promise<void> {
  const answer = await ask(signal, { prompt: `${question}? [y/N]` });
  if (!/^y(es)?$/i.test(answer)) throw new Error('Nothing was changed');
}
