// Prism, which checks each request and response against the contract on its way.
import { getHttpOperationsFromSpec } from '@stoplight/prism-http';
import { createServer } from '@stoplight/prism-http-server';

export interface Prism {
  origin: string;
  close(): Promise<void>;
}

/** Its log repeats what the header `sl-violations` of responses has. */
const ignore = () => {};
const logger = {
  debug: ignore,
  info: ignore,
  success: ignore,
  warn: ignore,
  error: ignore,
  child: () => logger,
};

/** Starts Prism in front of the service at `upstream`. */
export async function startPrism(document: object, upstream: string): Promise<Prism> {
  const server = createServer(await getHttpOperationsFromSpec(document), {
    cors: false,
    components: { logger } as never,
    config: {
      isProxy: true,
      upstream: new URL(upstream),
      mock: { dynamic: false },
      checkSecurity: true,
      validateRequest: true,
      validateResponse: true,
      errors: false,
      upstreamProxy: undefined,
    },
  });
  const origin = await server.listen(0, '127.0.0.1');
  return { origin, close: () => server.close() };
}

/** What Prism found wrong with a request or its response: the place and the message of each violation. */
export function violationsIn(headers: Headers): string[] {
  const found: { location: string[]; message: string }[] = JSON.parse(headers.get('sl-violations') ?? '[]');
  return found.map(({ location, message }) => `${location.join('.')}: ${message}`);
}
