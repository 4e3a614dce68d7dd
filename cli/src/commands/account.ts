import { command } from '../command.ts';
import { readiness, account as shown } from '../resources.ts';

export const account = command({
  name: 'account',
  summary: 'Show the API key in use: its plan, scopes, limits and usage',
  details: 'It uses no quota, and works during a ban.',
  examples: ['petstore account', 'petstore account --json --fields windows,ban'],
  operations: ['GET /account'],
  output: 'item',
  prints: shown,
  run: ({ store, calls }) => store.account.get(calls),
});

export const status = command({
  name: 'status',
  summary: 'Show whether the service is ready',
  examples: ['petstore status'],
  operations: ['GET /readyz'],
  output: 'item',
  prints: readiness,
  needsNoKey: true,
  run: ({ store, calls }) => store.service.readiness(calls),
});
