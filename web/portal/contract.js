// @ts-check
/**
 * Reading the OpenAPI document. Nothing here touches the page.
 *
 * @typedef {import('./types.d.ts').Contract} Contract
 * @typedef {import('./types.d.ts').ListedOperation} ListedOperation
 * @typedef {import('./types.d.ts').Parameter} Parameter
 * @typedef {import('./types.d.ts').Reference} Reference
 */

/**
 * Every operation, in the order of the document.
 *
 * @param {Contract} contract
 * @returns {ListedOperation[]}
 */
export function operationsOf({ paths }) {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      path,
      method,
      tag: operation.tags[0] ?? '',
      operation,
    })),
  );
}

/**
 * The parameters of an operation, those that it shares with others included.
 *
 * @param {Contract} contract
 * @param {ListedOperation['operation']} operation
 * @returns {Parameter[]}
 */
export function parametersOf({ components }, operation) {
  return (operation.parameters ?? []).map(parameter =>
    '$ref' in parameter
      ? /** @type {Parameter} */ (components.parameters[parameter.$ref.replace(/^.*\//, '')])
      : parameter,
  );
}

/**
 * The operation that a deprecated one is to be replaced by: the one that answers GET at the path of its successor.
 *
 * @param {Contract} contract
 * @param {ListedOperation['operation']} operation
 * @returns {ListedOperation | undefined}
 */
export function successorOf(contract, operation) {
  const path = operation['x-deprecated-successor']?.split('?')[0];
  return operationsOf(contract).find(listed => listed.path === path && listed.method === 'get');
}

/**
 * Whether an operation is among those that the reader looks for: it has every word of the phrase somewhere in its
 * method, path, name, tag, summary or description.
 *
 * @param {ListedOperation} listed
 * @param {string} phrase
 */
export function matches({ path, method, tag, operation }, phrase) {
  const { operationId, summary, description } = operation;
  const text = [method, path, operationId, tag, summary, description].join(' ').toLowerCase();
  return phrase
    .toLowerCase()
    .split(/\s+/)
    .every(word => text.includes(word));
}

/**
 * The document for the viewer. It fills every parameter that has an example or a default, and then sends it: of the
 * optional ones both are told in the description instead, so that an untouched form sends what is required and no more.
 *
 * @param {Contract} contract
 * @returns {Contract}
 */
export function forViewer(contract) {
  const copy = structuredClone(contract);
  const parameters = [
    ...Object.values(copy.components.parameters),
    ...operationsOf(copy).flatMap(({ operation }) => operation.parameters ?? []),
  ];
  for (const parameter of parameters) {
    if (!('$ref' in parameter || parameter.required)) describeLimits(parameter);
  }
  return copy;
}

/** @param {Parameter} parameter */
function describeLimits(parameter) {
  const { schema } = parameter;
  const example = parameter.example ?? schema.example;
  const told = [parameter.description ?? ''];
  if (schema.default !== undefined) told.push(`Default: \`${schema.default}\``);
  else if (example !== undefined) told.push(`Example: \`${[example].flat().join(', ')}\``);
  parameter.description = told.join('\n\n');
  delete parameter.example;
  delete schema.example;
  delete schema.default;
}
