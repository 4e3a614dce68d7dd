import { capitalised, inCode } from '../kit/text.ts';
import type { ContractView, Operation, Reference, Response, Schema } from './contract.ts';

/** Messages of codes that other operations send with other words, by operation and code. A test provokes each of them. */
const others: Readonly<Record<string, string>> = {
  'cancelOrder order_already_complete': 'Order 1 is complete: only open orders can be deleted',
  'adjustStock insufficient_stock': 'Pet 1 has 1 in stock, so 5 cannot be removed: remove fewer',
  'runBatch payload_too_large': 'The body is over 1 MiB (1,048,576 bytes): send less, or several requests',
};

/** The codes of an error, each with the message that the operation sends. */
export function messagesOf(
  view: ContractView,
  operation: Operation,
  examples: Response['examples'],
): [code: string, message: string][] {
  return Object.entries(examples).map(([code, example]) => {
    const { message } = example as { message: string };
    return [code, ownMessage(view, operation, code, message)];
  });
}

/**
 * The message of an error as an operation sends it. The contract has one example for each code that operations share; the scope, the
 * media type and the first wrong part of the request are those of the operation.
 */
function ownMessage(view: ContractView, operation: Operation, code: string, shared: string): string {
  const { id, scopes, responses } = operation;
  if (code === 'insufficient_scope' && scopes.length > 0) {
    const [noun, them] = scopes.length === 1 ? ['scope', 'it'] : ['scopes', 'them'];
    return `The API key lacks the ${noun} ${inCode(scopes)}: ask an administrator to add ${them}, or use another key`;
  }
  if (code === 'invalid_request') return invalidRequest(view, operation) ?? shared;
  if (code === 'not_acceptable') {
    const type = responses.find(({ status }) => status.startsWith('2'))?.type;
    return type === undefined ? shared : shared.replaceAll('application/json', type);
  }
  if (id === 'runBatch') {
    const isOfOperation =
      !code.startsWith('idempotency_key') &&
      responses.some(({ status, examples }) => /^4(04|09|22)$/.test(status) && code in examples);
    if (isOfOperation) return `Operation 0: ${shared}`;
  }
  return others[`${id} ${code}`] ?? shared;
}

/** The message about a wrong ID, a body without its fields, a page of no items or an unknown parameter: the first that is possible. */
function invalidRequest(view: ContractView, { parameters, body }: Operation): string | undefined {
  const ids = parameters.filter(({ in: place }) => place === 'path');
  if (ids.length > 0)
    return listed(
      ids.map(({ name }) => `path parameter \`${name}\` must be an integer (int64), but was "x"`),
    );
  const required = body ? requiredFields(view, body.media.schema) : [];
  if (required.length > 0) return listed(required.map(name => `field \`${name}\` is required`));
  const known = parameters.filter(({ in: place }) => place === 'query').map(({ name }) => `\`${name}\``);
  if (known.includes('`limit`')) return undefined;
  return `Unknown query parameter \`limit\`; ${known.length === 0 ? 'none is allowed here' : `known are ${known.join(', ')}`}`;
}

/** The required fields of a body, or of its first form. */
function requiredFields(view: ContractView, part: Schema | Reference): readonly string[] {
  const { required, anyOf, oneOf } = view.schema(part);
  const [first] = anyOf ?? oneOf ?? [];
  return required ?? (first ? requiredFields(view, first) : []);
}

const listed = (problems: readonly string[]) => capitalised(problems.join('; '));
