// @ts-check
/**
 * Code that sends a request, in six languages. It reads the key from the environment variable `KEY`. The service makes the
 * samples of the pages with these functions, and the page makes them again from the values of its form.
 *
 * @typedef {import('./types.d.ts').Call} Call
 * @typedef {import('./types.d.ts').CallParameter} CallParameter
 * @typedef {import('./types.d.ts').SampleRequest} SampleRequest
 * @typedef {import('./types.d.ts').Values} Values
 * @typedef {SampleRequest['headers'][number][1]} HeaderValue
 */
import { exactValue, indented, itemsOf, requestOf } from './request.js';

/**
 * The languages by name: the name that readers see, and the grammar of the highlighter.
 *
 * @type {Record<string, { label: string, grammar: string, code: (call: Call, request: SampleRequest, values: Values, base: string) => string }>}
 */
export const languages = {
  curl: { label: 'curl', grammar: 'bash', code: asCurl },
  javascript: { label: 'JavaScript', grammar: 'javascript', code: asJavaScript },
  typescript: { label: 'TypeScript', grammar: 'typescript', code: asTypeScript },
  python: { label: 'Python', grammar: 'python', code: asPython },
  php: { label: 'PHP', grammar: 'php', code: asPhp },
  go: { label: 'Go', grammar: 'go', code: asGo },
};

/**
 * The sample of a language. Throws a SyntaxError if the body is not JSON.
 *
 * @param {string} language
 * @param {Call} call
 * @param {Values} values
 * @param {string} base
 */
export function sample(language, call, values, base) {
  const known = languages[language];
  if (!known) throw new Error(`There are no samples in ${language}`);
  return known.code(call, requestOf(call, values, base), values, base);
}

/**
 * The seconds after which a sample stops waiting for the service, which itself may wait for events. A stream sends something at
 * least every 15 seconds.
 *
 * @param {Values} values
 */
function timeoutOf({ parameters: { wait = '' } }) {
  return 30 + (/^\d{1,2}$/.test(wait) ? Number(wait) : 0);
}

/** For a POSIX shell with curl 7.76 or newer. @param {Call} call @param {SampleRequest} request @param {Values} values */
function asCurl({ returns }, { method, url, headers, body }, values) {
  /** @param {string} text */
  const quoted = text => `'${text.replaceAll("'", `'\\''`)}'`;
  // -N: curl prints what it receives at once.
  const limit = returns === 'stream' ? '-N' : `-m ${timeoutOf(values)}`;
  const parts = [`curl ${limit} --fail-with-body${method === 'GET' ? '' : ` -X ${method}`} ${quoted(url)}`];
  for (const [name, value] of headers) {
    if (typeof value === 'string') parts.push(`-H ${quoted(`${name}: ${value}`)}`);
    else parts.push(`-H "${name}: ${value.variable === 'key' ? '$KEY' : '$(od -An -N8 -tx8 /dev/urandom)'}"`);
  }
  if (body !== undefined) {
    const json = body.length > LINE ? indented(body).replaceAll('\n', '\n  ') : body;
    parts.push(`-d ${quoted(json)}`);
  }
  return parts.join(' \\\n  ');
}

/** A module for Node.js 20 or newer. @param {Call} call @param {SampleRequest} request @param {Values} values */
function asJavaScript({ returns }, { method, url, headers, body }, values) {
  const variables = { key: 'process.env.KEY', uuid: 'crypto.randomUUID()' };
  const sent = headers.map(([name, value]) => `'${name}': ${headerCode(value, variables, literal)}`);
  const value = exactValue(body);
  const options = [
    method !== 'GET' && `method: '${method}'`,
    sent.length > 0 && `headers: {\n${lines(sent, '    ')}  }`,
    body !== undefined &&
      `body: ${value === undefined ? literal(body) : `JSON.stringify(${code(value, javascript, '  ')})`}`,
    returns !== 'stream' && `signal: AbortSignal.timeout(${timeoutOf(values)}_000)`,
  ];
  return `const response = await fetch(${literal(url)}, {
${lines(options, '  ')}});
if (!response.ok) throw new Error(\`\${response.status} \${await response.text()}\`);
${
  returns === 'stream'
    ? 'for await (const text of response.body.pipeThrough(new TextDecoderStream())) process.stdout.write(text);'
    : `console.log(await response.${isJson(returns) ? 'json' : 'text'}());`
}`;
}

/** With the client of this project. @param {Call} call @param {SampleRequest} request @param {Values} values @param {string} base */
function asTypeScript({ client, returns, isSecured, bodyType, parameters }, { body }, values, base) {
  /** @type {Record<CallParameter['in'], Record<string, unknown>>} */
  const given = { path: {}, query: {}, header: {} };
  for (const parameter of parameters) {
    const { name, in: place, kind, isList } = parameter;
    const text = values.parameters[name] ?? '';
    if (text === '') continue;
    const items = itemsOf(parameter, text).map(item => (kind === 'string' ? item : plainValue(item)));
    given[place][name] = isList ? items : items[0];
  }
  const {
    'If-Match': ifMatch,
    'If-None-Match': ifNoneMatch,
    'Idempotency-Key': idempotencyKey,
    ...headers
  } = given.header;
  const options = { ifMatch, ifNoneMatch, idempotencyKey, ...(!isEmpty(headers) && { headers }) };
  const value = exactValue(body);
  if (body !== undefined && value === undefined)
    return '// The client cannot send this body:\n// JavaScript would write a value\n// differently, or drop a field.';
  const args = Object.values(given.path);
  if (returns === 'stream') {
    const { cursor, type: types, subject, actor } = given.query;
    const { 'Last-Event-ID': from = cursor, ...others } = headers;
    const subscription = { from, types, subject, actor, ...(!isEmpty(others) && { headers: others }) };
    if (!isEmpty(subscription)) args.push(subscription);
  } else {
    const takesQuery = parameters.some(({ in: place }) => place === 'query');
    // The options follow the body, also if it is left out.
    if (body !== undefined || (bodyType !== undefined && !isEmpty(options))) args.push(value);
    else if (takesQuery && !(isEmpty(given.query) && isEmpty(options))) args.push(given.query);
    if (!isEmpty(options)) args.push(options);
  }
  const call = `store.${client}(${args.map(arg => code(arg, javascript)).join(', ')})`;
  const isIterable = returns === 'list' || returns === 'stream';
  const install = `// npm install ${base}/packages/client.tgz\n`;
  return `${install}import { PetStore } from '@petstore/client';

const store = new PetStore({ baseUrl: ${literal(base)}${isSecured ? ', apiKey: process.env.KEY' : ''} });
${
  isIterable
    ? `for await (const item of ${call}) console.log(item);`
    : returns === 'nothing'
      ? `await ${call};`
      : `console.log(await ${call});`
}`;
}

/** For Python 3 with `requests`. @param {Call} call @param {SampleRequest} request @param {Values} values */
function asPython({ returns }, { method, url, headers, body }, values) {
  const variables = { key: 'os.environ["KEY"]', uuid: 'str(uuid.uuid4())' };
  // `json=None` sends no body.
  const json = exactValue(body) ?? undefined;
  // `json` sets this header by itself.
  const needed = headers.filter(
    ([name, value]) => !(json !== undefined && name === 'Content-Type' && value === 'application/json'),
  );
  const sent = needed.map(([name, value]) => `"${name}": ${headerCode(value, variables, JSON.stringify)}`);
  const imports = [uses(needed, 'key') && 'os', uses(needed, 'uuid') && 'uuid', 'requests'].filter(Boolean);
  const args = [
    JSON.stringify(url),
    sent.length > 0 && `headers={\n${lines(sent, '        ')}    }`,
    body !== undefined &&
      (json === undefined ? `data=${JSON.stringify(body)}.encode()` : `json=${code(json, python, '    ')}`),
    returns === 'stream' && 'stream=True',
    `timeout=${timeoutOf(values)}`,
  ];
  const call = `requests.${method.toLowerCase()}(\n${lines(args, '    ')})`;
  const check =
    'if response.status_code >= 300:\n    raise SystemExit(f"{response.status_code} {response.text}")';
  const start = `${imports.map(name => `import ${name}\n`).join('')}\n`;
  if (returns === 'stream')
    return `${start}with ${call} as response:
    ${check.replace('\n', '\n    ')}
    for line in response.iter_lines():
        print(line.decode(), flush=True)`;
  return `${start}response = ${call}\n${check}\nprint(response.${isJson(returns) ? 'json()' : 'text'})`;
}

/** For PHP 8 with its extension for curl. @param {Call} call @param {SampleRequest} request @param {Values} values */
function asPhp({ returns }, { method, url, headers, body }, values) {
  /** A text in which nothing is replaced. @param {string} text */
  const quoted = text => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
  const variables = { key: "getenv('KEY')", uuid: 'bin2hex(random_bytes(16))' };
  const sent = headers.map(([name, value]) =>
    typeof value === 'string' ? quoted(`${name}: ${value}`) : `'${name}: ' . ${variables[value.variable]}`,
  );
  const options = [
    method !== 'GET' && `CURLOPT_CUSTOMREQUEST => '${method}'`,
    sent.length > 0 && `CURLOPT_HTTPHEADER => [\n${lines(sent, '        ')}    ]`,
    // No line of JSON begins with the word that ends the text.
    body !== undefined &&
      `CURLOPT_POSTFIELDS => <<<'JSON'\n${indented(body)}\nJSON`.replaceAll('\n', '\n    '),
    returns === 'stream'
      ? 'CURLOPT_WRITEFUNCTION => function ($curl, $text) {\n        echo $text;\n        return strlen($text);\n    }'
      : `CURLOPT_RETURNTRANSFER => true,\n    CURLOPT_TIMEOUT => ${timeoutOf(values)}`,
  ];
  return `<?php
$curl = curl_init(${quoted(url)});
curl_setopt_array($curl, [
${lines(options, '    ')}]);
$body = curl_exec($curl);
$status = curl_getinfo($curl, CURLINFO_RESPONSE_CODE);
if ($body === false || $status >= 300) {
    fwrite(STDERR, "$status ${returns === 'stream' ? '' : '$body '}" . curl_error($curl) . "\\n");
    exit(1);
}${returns === 'stream' ? '' : '\necho $body, "\\n";'}`;
}

/** With the standard library of Go. @param {Call} call @param {SampleRequest} request @param {Values} values */
function asGo({ returns }, { method, url, headers, body }, values) {
  const variables = { key: 'os.Getenv("KEY")', uuid: 'fmt.Sprintf("%x", id)' };
  const hasUuid = uses(headers, 'uuid');
  const hasLimit = returns !== 'stream';
  const packages = [
    hasUuid && 'crypto/rand',
    hasUuid && 'fmt',
    'io',
    'log',
    'net/http',
    'os',
    body !== undefined && 'strings',
    hasLimit && 'time',
  ].filter(Boolean);
  return `package main

import (
${packages.map(name => `\t"${name}"\n`).join('')})

func main() {
	request, err := http.NewRequest("${method}", ${goText(url)}, ${body === undefined ? 'nil' : `strings.NewReader(${goText(body)})`})
	if err != nil {
		log.Fatal(err)
	}
${
  hasUuid
    ? `	id := make([]byte, 16)
	if _, err := rand.Read(id); err != nil {
		log.Fatal(err)
	}
`
    : ''
}${headers.map(([name, value]) => `\trequest.Header.Set("${name}", ${headerCode(value, variables, goText)})\n`).join('')}	client := http.Client{${hasLimit ? `Timeout: ${timeoutOf(values)} * time.Second` : ''}}
	response, err := client.Do(request)
	if err != nil {
		log.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode >= 300 {
		body, _ := io.ReadAll(response.Body)
		log.Fatalf("%s %s", response.Status, body)
	}
	if _, err := io.Copy(os.Stdout, response.Body); err != nil {
		log.Fatal(err)
	}
}`;
}

/** The lines, each with a comma at its end, except those that are `false`. @param {(string | false)[]} all @param {string} indent */
function lines(all, indent) {
  return all
    .filter(line => line !== false)
    .map(line => `${indent}${line},\n`)
    .join('');
}

/** The value that is sent as the text. A text that is neither a boolean nor an exact whole number stays a text. @param {string} text */
function plainValue(text) {
  if (text === 'true' || text === 'false') return text === 'true';
  const number = Number(text);
  return Number.isSafeInteger(number) && String(number) === text ? number : text;
}

/** Whether the object has no value. @param {object} object */
function isEmpty(object) {
  return Object.values(object).every(value => value === undefined);
}

/** @param {Call['returns']} returns */
function isJson(returns) {
  return returns === 'json' || returns === 'list';
}

/** @param {SampleRequest['headers']} headers @param {import('./types.d.ts').Variable['variable']} variable */
function uses(headers, variable) {
  return headers.some(([, value]) => typeof value !== 'string' && value.variable === variable);
}

/**
 * @param {HeaderValue} value
 * @param {Record<string, string>} variables the code for each variable
 * @param {(text: string) => string} quote
 */
function headerCode(value, variables, quote) {
  return typeof value === 'string' ? quote(value) : /** @type {string} */ (variables[value.variable]);
}

/** A text of JavaScript. @param {string} text */
function literal(text) {
  return `'${JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;
}

/** A text of Go, between backticks if that saves escapes. A file of Go must not contain U+FEFF. @param {string} text */
function goText(text) {
  if (text.includes('"') && !/[`\p{C}]/u.test(text)) return `\`${text}\``;
  return JSON.stringify(text).replaceAll('\uFEFF', '\\uFEFF');
}

/**
 * How a language differs from JSON.
 *
 * @typedef {object} Syntax
 * @property {(text: string) => string} text
 * @property {(name: string) => string} name
 * @property {Record<string, string>} words
 * @property {string} space between the braces and the first and last entry of an object in one line
 */

/** @type {Syntax} */
const javascript = {
  text: literal,
  name: name => {
    // `__proto__: value` would set the prototype.
    if (name === '__proto__') return "['__proto__']";
    return /^[A-Za-z_]\w*$/.test(name) ? name : literal(name);
  },
  words: {},
  space: ' ',
};

/** @type {Syntax} */
const python = {
  text: text => JSON.stringify(text),
  name: name => JSON.stringify(name),
  words: { null: 'None', true: 'True', false: 'False' },
  space: '',
};

/** The longest list or object that takes one line, in characters. */
const LINE = 60;

/**
 * A value in a language. Short lists and objects take one line. `undefined` is no entry.
 *
 * @param {unknown} value
 * @param {Syntax} syntax
 * @param {string} indent of the line that contains it
 * @returns {string}
 */
function code(value, syntax, indent = '') {
  if (typeof value === 'string') return syntax.text(value);
  if (typeof value !== 'object' || value === null) {
    const word = String(value);
    return syntax.words[word] ?? word;
  }
  const isList = Array.isArray(value);
  const [open, close, space] = isList ? ['[', ']', ''] : ['{', '}', syntax.space];
  const entries = Object.entries(value)
    .filter(([, item]) => item !== undefined)
    .map(([name, item]) => `${isList ? '' : `${syntax.name(name)}: `}${code(item, syntax, `${indent}  `)}`);
  if (entries.length === 0) return open + close;
  const line = open + space + entries.join(', ') + space + close;
  if (line.length <= LINE && !line.includes('\n')) return line;
  return `${open}\n${lines(entries, `${indent}  `)}${indent}${close}`;
}
