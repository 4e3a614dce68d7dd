// @ts-check
/**
 * The request that a form describes.
 *
 * @typedef {import('./types.d.ts').Call} Call
 * @typedef {import('./types.d.ts').CallParameter} CallParameter
 * @typedef {import('./types.d.ts').SampleRequest} SampleRequest
 * @typedef {import('./types.d.ts').Values} Values
 */

/**
 * Throws a SyntaxError if the body is not JSON. A POST gets an Idempotency-Key of its own, unless the form has one.
 *
 * @param {Call} call
 * @param {Values} values
 * @param {string} base the URL of the service, without a slash at its end
 * @returns {SampleRequest}
 */
export function requestOf(call, values, base) {
  let { path } = call;
  const query = new URLSearchParams();
  /** @type {SampleRequest['headers']} */
  const headers = call.isSecured ? [['X-API-Key', { variable: 'key' }]] : [];
  for (const parameter of call.parameters) {
    const { name } = parameter;
    const value = values.parameters[name] ?? '';
    if (parameter.in === 'path') path = path.replace(`{${name}}`, encodeURIComponent(value));
    else if (value === '') {
      if (name === 'Idempotency-Key') headers.push([name, { variable: 'uuid' }]);
    } else if (parameter.in === 'header') headers.push([name, value]);
    else for (const item of itemsOf(parameter, value)) query.append(name, item);
  }
  const url = base + path + (query.size > 0 ? `?${query}` : '');
  const { method, bodyType } = call;
  if (bodyType === undefined || values.body === undefined || values.body.trim() === '')
    return { method, url, headers };
  headers.push(['Content-Type', bodyType]);
  return { method, url, headers, body: compacted(values.body) };
}

/** The JSON without spaces between its tokens. JSON.parse would change numbers, and drop a field that appears twice. @param {string} json */
function compacted(json) {
  JSON.parse(json);
  return json.replace(/("(?:[^"\\]+|\\.)*")|\s+/g, '$1');
}

/** The value of JSON. `undefined` if there is none, or if JSON.stringify would write it otherwise, such as a large number. @param {string | undefined} json */
export function exactValue(json) {
  if (json === undefined) return undefined;
  try {
    const value = JSON.parse(json);
    return JSON.stringify(value) === json ? value : undefined;
  } catch {
    // What is not JSON has no value, nor has JSON that is nested too deeply.
    return undefined;
  }
}

/** The JSON in several lines. Broken JSON, or JSON that this would change, as it is. @param {string} json */
export function indented(json) {
  const value = exactValue(json);
  return value === undefined ? json : JSON.stringify(value, null, 2);
}

/**
 * The values of a parameter, of which lists have several.
 *
 * @param {CallParameter} parameter
 * @param {string} text
 */
export function itemsOf({ isList }, text) {
  return isList ? text.split(',').map(item => item.trim()) : [text];
}
