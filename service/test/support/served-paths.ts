import { subscribe } from 'node:diagnostics_channel';
import type { FastifyInstance } from 'fastify';

/** A path that a service serves, as an OpenAPI template; `*` at its end is any rest. */
interface ServedPath {
  template: string;
  /** In capitals, with HEAD wherever GET is. */
  methods: ReadonlySet<string>;
}

const served = new Map<string, Set<string>>();

// The server itself reports its routes, so that no path is missing, however it was added.
subscribe('fastify.initialization', message => {
  const { fastify } = message as { fastify: FastifyInstance };
  fastify.addHook('onRoute', ({ url, method }) => {
    const template = url.replace(/:(\w+)\([^)]+\)/g, '{$1}');
    const methods = served.get(template) ?? new Set();
    for (const each of [method].flat()) methods.add(each);
    served.set(template, methods);
  });
});

/** Every path of the services that were started in this process. */
export function servedPaths(): ServedPath[] {
  return Array.from(served, ([template, methods]) => ({ template, methods }));
}
