import { command } from '../command.ts';
import { UsageError } from '../failure.ts';
import { defined } from '../items.ts';
import { integer, oneOf, required, text } from '../parameters.ts';
import { planRequest, readiness, account as shown } from '../resources.ts';
import { PLANS } from './keys.ts';

const show = command({
  name: 'account',
  summary: 'Show the API key in use: its plan, scopes, limits and usage',
  details: 'It uses no quota, and works during a ban.',
  examples: ['petstore account', 'petstore account --json --fields windows,ban'],
  operations: ['GET /account'],
  output: 'item',
  prints: shown,
  run: ({ store, calls }) => store.account.get(calls),
});

const upgrade = command({
  name: 'account upgrade',
  summary: 'Request another plan for the API key in use',
  details:
    'An administrator decides, and `petstore account --fields planRequest` shows the decision. It uses no quota, and works while the limits are used up and during a ban. Experimental.',
  arguments: { plan: required(oneOf('The wanted plan', ...PLANS)) },
  options: {
    note: text('Why, for the administrators'),
    perMinute: integer('Requests per minute of the plan enterprise'),
    perDay: integer('Requests per day of the plan enterprise'),
  },
  examples: [
    'petstore account upgrade business --note "We open three more shops"',
    'petstore account upgrade enterprise --per-minute 5000 --per-day 1000000',
  ],
  operations: ['POST /account/plan-requests'],
  output: 'item',
  prints: planRequest,
  run: async ({ store, calls }, { plan, note, perMinute, perDay }): Promise<object> => {
    const isNegotiated = plan === 'enterprise';
    if (isNegotiated !== (perMinute !== undefined) || isNegotiated !== (perDay !== undefined))
      throw new UsageError('--per-minute and --per-day belong to the plan enterprise, which needs both');
    const quotas = perMinute !== undefined && perDay !== undefined ? { perMinute, perDay } : undefined;
    return store.account.requestPlan(defined({ plan, note, quotas }), calls);
  },
});

export const account = [show, upgrade];

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
