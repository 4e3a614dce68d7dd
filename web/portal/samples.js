// @ts-check
/**
 * Code that calls an operation with the examples of the document, and only with required parameters. It reads the key
 * from `$KEY`, an environment variable.
 *
 * @typedef {import('./types.d.ts').Contract} Contract
 * @typedef {{ method: string, url: string, headers: Record<string, string>, body?: string }} SampleRequest
 */
import { parametersOf } from './contract.js';

/**
 * The request that the samples make.
 *
 * @param {Contract} contract
 * @param {string} path
 * @param {string} method in lower case, as the document has it
 * @param {string} origin
 * @returns {SampleRequest}
 */
export function sampleRequest(contract, path, method, origin) {
  const operation = contract.paths[path]?.[method];
  if (!operation) throw new Error(`The document has no ${method} ${path}`);
  let target = path;
  const query = new URLSearchParams();
  /** @type {Record<string, string>} */
  const headers = {};
  if (operation.security.length > 0) headers['X-API-Key'] = '$KEY';
  for (const parameter of parametersOf(contract, operation)) {
    const value = String(parameter.example ?? parameter.schema.example ?? parameter.schema.default);
    if (parameter.in === 'path') target = target.replace(`{${parameter.name}}`, encodeURIComponent(value));
    else if (parameter.required && parameter.in === 'query') query.append(parameter.name, value);
    else if (parameter.required) headers[parameter.name] = value;
  }
  const url = origin + target + (query.size > 0 ? `?${query}` : '');
  const [type, media] = Object.entries(operation.requestBody?.content ?? {})[0] ?? [];
  if (type === undefined || media?.example === undefined)
    return { method: method.toUpperCase(), url, headers };
  headers['Content-Type'] = type;
  return { method: method.toUpperCase(), url, headers, body: JSON.stringify(media.example) };
}

/**
 * The request for a POSIX shell.
 *
 * @param {SampleRequest} request
 */
export function asCurl({ method, url, headers, body }) {
  const lines = [`curl${method === 'GET' ? '' : ` -X ${method}`} ${quoted(url)}`];
  for (const [name, value] of Object.entries(headers)) {
    // In double quotes, so that the shell inserts the key.
    lines.push(value === '$KEY' ? `-H "${name}: $KEY"` : `-H ${quoted(`${name}: ${value}`)}`);
  }
  if (body !== undefined) lines.push(`-d ${quoted(body)}`);
  return lines.join(' \\\n  ');
}

/**
 * The request as a module for Node.js, 18 or newer.
 *
 * @param {SampleRequest} request
 * @param {boolean} returnsJson whether the success has a JSON body
 */
export function asJavaScript({ method, url, headers, body }, returnsJson) {
  const options = [];
  if (method !== 'GET') options.push(`  method: ${literal(method)},`);
  const entries = Object.entries(headers).map(
    ([name, value]) =>
      `    ${/^\w+$/.test(name) ? name : literal(name)}: ${value === '$KEY' ? 'process.env.KEY' : literal(value)},`,
  );
  if (entries.length > 0) options.push('  headers: {', ...entries, '  },');
  if (body !== undefined) options.push(`  body: JSON.stringify(${indented(JSON.parse(body))}),`);
  const call = options.length > 0 ? `${literal(url)}, {\n${options.join('\n')}\n}` : literal(url);
  const printed = returnsJson
    ? 'response.status, await response.json()'
    : 'response.status, await response.text()';
  return `const response = await fetch(${call});\nconsole.log(${printed});`;
}

/** @param {string} text */
function quoted(text) {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** @param {string} text */
function literal(text) {
  return `'${JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;
}

/** @param {unknown} value */
function indented(value) {
  return JSON.stringify(value, null, 2).replaceAll('\n', '\n  ');
}
