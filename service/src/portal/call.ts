import type { Call, CallParameter, Values } from '../../../web/portal/types.d.ts';
import { clientCall } from './client-call.ts';
import type { ContractView, Operation, Parameter } from './contract.ts';

/** What the samples of an operation need to know about it. */
export function callOf(view: ContractView, operation: Operation): Call {
  const { method, path, isSecured, body, parameters } = operation;
  return {
    method,
    path,
    client: clientCall(operation),
    isSecured,
    returns: resultOf(view, operation),
    bodyType: body?.type,
    parameters: parameters.map(parameter => callParameter(view, parameter)),
  };
}

/** The values of an unchanged form: the examples of the parameters that are required, and of the body. */
export function exampleValues({ parameters, body }: Operation): Values {
  return {
    parameters: Object.fromEntries(
      parameters.filter(({ required }) => required).map(parameter => [parameter.name, exampleOf(parameter)]),
    ),
    body: body && JSON.stringify(body.media.example, null, 2),
  };
}

/** The example of a parameter as a form shows it. */
export function exampleOf({ example }: Parameter): string {
  return [example ?? ''].flat().join(', ');
}

function callParameter(view: ContractView, { name, in: place, schema: part }: Parameter): CallParameter {
  const schema = view.schema(part);
  const { type } = schema.items ? view.schema(schema.items) : schema;
  const kind = type === 'integer' || type === 'number' ? 'number' : type === 'boolean' ? 'boolean' : 'string';
  return { name, in: place, kind, isList: schema.type === 'array' };
}

function resultOf(view: ContractView, { method, parameters, responses }: Operation): Call['returns'] {
  const success = responses.find(({ status }) => status.startsWith('2'));
  if (!success?.media) return 'nothing';
  if (success.type === 'text/event-stream') return 'stream';
  if (success.type !== 'application/json') return 'text';
  const isPaged = method === 'GET' && parameters.some(({ name }) => name === 'cursor');
  return isPaged && view.schema(success.media.schema).items ? 'list' : 'json';
}
