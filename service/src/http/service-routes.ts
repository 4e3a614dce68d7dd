import { ApiError } from '../contract/errors.ts';
import { shape } from '../contract/shape.ts';
import type { Static } from '../contract/static.ts';
import type { Queries } from '../db/database.ts';
import type { Problem, Problems } from '../problems.ts';
import { defineRoute, type Route } from '../routes/define-route.ts';
import { reply } from '../routes/reply.ts';
import type { Drain } from './drain.ts';
import type { ContractDocument } from './openapi/document.ts';

const Health = shape({
  title: 'Health',
  properties: {
    status: { type: 'string', enum: ['ok'], description: 'Always `ok`; the HTTP status shows problems.' },
  },
  example: { status: 'ok' },
});

const Readiness = shape({
  title: 'Readiness',
  properties: {
    status: {
      type: 'string',
      enum: ['ok', 'degraded'],
      description: '`degraded`: requests are served, but `message` names problems.',
    },
    message: {
      type: 'string',
      maxLength: 1_000,
      description: 'The problems and their consequences, separated by `; `.',
    },
  },
  optional: ['message'],
  example: { status: 'ok' },
});

function readinessOf(problems: readonly Problem[]): Static<typeof Readiness> {
  if (problems.length === 0) return { status: 'ok' };
  return { status: 'degraded', message: problems.map(({ message }) => message).join('; ') };
}

/** Throws unless requests are served, and returns the problems with which they are. */
export async function currentProblems(
  db: Pick<Queries, 'get'>,
  { problems, drain }: Pick<ServiceState, 'problems' | 'drain'>,
): Promise<Problem[]> {
  if (drain.hasBegun) throw stopping();
  // Selecting a constant would not read the store.
  await db.get('SELECT version FROM schema_migrations LIMIT 1');
  return problems.current();
}

function stopping(): ApiError {
  return new ApiError('service_unavailable', 'The replica is stopping: send requests to another one', {
    'retry-after': '1',
  });
}

/** The parts of the service that its own operations read. */
export interface ServiceState {
  contract: ContractDocument;
  problems: Problems;
  drain: Pick<Drain, 'hasBegun'>;
}

export const serviceRoutes = ({ contract, problems, drain }: ServiceState): Route[] => [
  defineRoute({
    method: 'GET',
    path: '/healthz',
    operationId: 'getHealth',
    tag: 'Service',
    summary: 'Is the process alive?',
    description: 'Responds while the process serves requests. Requires no API key and uses no quota.',
    scope: null,
    success: { status: 200, description: 'The process is alive.', schema: Health },
    errors: [],
    handler: async () => reply.resource({ status: 'ok' as const }),
  }),

  defineRoute({
    method: 'GET',
    path: '/readyz',
    operationId: 'getReadiness',
    tag: 'Service',
    summary: 'Is the service ready?',
    description:
      'Returns 503 while the database cannot be reached and while the replica is stopping. Returns `degraded` while the store ' +
      'cannot be written, because its disk is full, it is read-only or its standby does not confirm commits, and while rate limits cannot be shared with other ' +
      'replicas. Requires no API key and uses no quota.',
    scope: null,
    success: { status: 200, description: 'The service is ready.', schema: Readiness },
    errors: [],
    handler: async ({ db }) => reply.resource(readinessOf(await currentProblems(db, { problems, drain }))),
  }),

  defineRoute({
    method: 'GET',
    path: '/openapi.yaml',
    operationId: 'getContractAsYaml',
    tag: 'Service',
    summary: 'The contract in YAML',
    description: 'This document. Requires no API key and uses no quota.',
    scope: null,
    success: {
      status: 200,
      description: 'The OpenAPI document.',
      mediaType: 'application/yaml',
      isCompressed: true,
    },
    conditional: true,
    errors: [],
    handler: async () => reply.content(await contract.yamlContent()),
  }),

  defineRoute({
    method: 'GET',
    path: '/openapi.json',
    operationId: 'getContractAsJson',
    tag: 'Service',
    summary: 'The contract in JSON',
    description: 'This document. Requires no API key and uses no quota.',
    scope: null,
    success: {
      status: 200,
      description: 'The OpenAPI document.',
      mediaType: 'application/json',
      isCompressed: true,
    },
    conditional: true,
    errors: [],
    handler: async () => reply.content(await contract.jsonContent()),
  }),
];
