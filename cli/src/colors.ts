import picocolors from 'picocolors';

export type Colors = ReturnType<typeof picocolors.createColors>;

/** Whether to colour what goes to a stream (https://no-color.org). */
export function colorsOf(stream: NodeJS.WriteStream, environment: NodeJS.ProcessEnv): Colors {
  const isForced = ![undefined, '', '0'].includes(environment.FORCE_COLOR);
  const isTerminal = stream.isTTY === true && environment.TERM !== 'dumb';
  return picocolors.createColors(!environment.NO_COLOR && (isForced || isTerminal));
}
