import { command } from '../command.ts';
import { defined, each, pageSize } from '../items.ts';
import { id, oneOf, required, several, text } from '../parameters.ts';
import { planRequest } from '../resources.ts';

const ids = several(required(id('The plan requests')));

const list = command({
  name: 'keys requests',
  summary: 'List the plans that API keys have requested, the newest first',
  details: 'Experimental.',
  options: {
    status: oneOf('Only requests with this status', 'open', 'approved', 'declined'),
    key: id('Only requests of this API key'),
  },
  examples: ['petstore keys requests --status open', 'petstore keys requests --key 2'],
  operations: ['GET /plan-requests'],
  output: 'list',
  prints: planRequest,
  run: (context, { status, key }) =>
    context.store.keys.planRequests({ ...pageSize(context), status, keyId: key }, context.calls),
});

const approve = command({
  name: 'keys approve',
  summary: 'Approve plan requests: their API keys get the requested plans',
  details: 'Experimental.',
  arguments: { ids },
  options: { message: text('A message for the holders of the keys') },
  examples: ['petstore keys approve 1'],
  operations: ['POST /plan-requests/{requestId}/approve'],
  output: 'items',
  prints: planRequest,
  run: (context, { ids, message }) =>
    each(context, ids, id => context.store.keys.approvePlanRequest(id, defined({ message }), context.calls)),
});

const decline = command({
  name: 'keys decline',
  summary: 'Decline plan requests, with a message',
  details: 'Experimental.',
  arguments: { ids },
  options: { message: required(text('A message for the holders of the keys')) },
  examples: ['petstore keys decline 1 --message "Please call us about the quotas first"'],
  operations: ['POST /plan-requests/{requestId}/decline'],
  output: 'items',
  prints: planRequest,
  run: (context, { ids, message }) =>
    each(context, ids, id => context.store.keys.declinePlanRequest(id, { message }, context.calls)),
});

export const planRequests = [list, approve, decline];
