// @ts-check
/**
 * Functions that read the OpenAPI document. None of them uses the page.
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
 * The parameters of an operation, including those that it shares with other operations.
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
 * The successor of a deprecated operation: the operation for GET at the path that `x-deprecated-successor` names.
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
 * Whether an operation matches a search phrase: its method, path, name, tag, summary and description together contain
 * every word.
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
 * The document for the viewer. The viewer fills in and sends every parameter with an example or a default. For optional
 * parameters, this moves both to the description, so that an unchanged form sends only required parameters.
 *
 * @param {Contract} contract
 * @returns {Contract}
 */
export function forViewer(contract) {
  const copy = structuredClone(contract);
  // A page may connect only to the address that served it, which can be another one than the public URL.
  copy.servers = [{ url: '/' }];
  const parameters = [
    ...Object.values(copy.components.parameters),
    ...operationsOf(copy).flatMap(({ operation }) => operation.parameters ?? []),
  ];
  for (const parameter of parameters) {
    if (!('$ref' in parameter || parameter.required)) moveToDescription(parameter);
  }
  return copy;
}

/** @param {Parameter} parameter */
function moveToDescription(parameter) {
  const { schema } = parameter;
  const example = parameter.example ?? schema.example;
  const lines = [parameter.description ?? ''];
  if (schema.default !== undefined) lines.push(`Default: \`${schema.default}\``);
  else if (example !== undefined) lines.push(`Example: \`${[example].flat().join(', ')}\``);
  parameter.description = lines.join('\n\n');
  delete parameter.example;
  delete schema.example;
  delete schema.default;
}
