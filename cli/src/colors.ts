import { createColors } from 'colorette';

export type Colors = ReturnType<typeof createColors>;

/** Whether to colour what goes to a stream (https://no-color.org). */
export function colorsOf(stream: NodeJS.WriteStream, environment: NodeJS.ProcessEnv): Colors {
  const isForced = ![undefined, '', '0'].includes(environment.FORCE_COLOR);
  const isTerminal = stream.isTTY === true && environment.TERM !== 'dumb';
  return createColors({ useColor: !environment.NO_COLOR && (isForced || isTerminal) });
}
