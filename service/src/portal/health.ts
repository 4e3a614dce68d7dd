/** The state of the service, as pages show it. */
export interface Health {
  status: 'ok' | 'degraded' | 'unavailable';
  /** Each problem with its consequence. */
  problems: readonly string[];
}

export const working: Health = { status: 'ok', problems: [] };

/** The state in a sentence. */
export function healthSentence({ status }: Health): string {
  if (status === 'ok') return 'The service works.';
  if (status === 'degraded') return 'The service works, with a problem.';
  return 'The service is unavailable at the moment.';
}
