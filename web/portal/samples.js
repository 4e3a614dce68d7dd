// @ts-check
/**
 * Code that sends a request, in six languages. It reads the key from the environment variable `KEY`. The service makes the
 * samples of the pages with these functions, and the page makes them again from the values of its form.
 *
 * @typedef {import('./types.d.ts').Call} Call
 * @typedef {import('./types.d.ts').SampleRequest} SampleRequest
 * @typedef {import('./types.d.ts').Values} Values
 * @typedef {SampleRequest['headers'][number][1]} HeaderValue
 */
import { itemsOf, requestOf } from './request.js';

/** Seconds after which a sample stops waiting for the service. A stream sends something at least every 15 seconds. */
const TIMEOUT = 30;

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

/** For a POSIX shell with curl 7.76 or newer. @param {Call} call @param {SampleRequest} request */
function asCurl({ returns }, { method, url, headers, body }) {
  /** @param {string} text */
  const quoted = text => `'${text.replaceAll("'", `'\\''`)}'`;
  // -N: curl prints what it receives at once.
  const limit = returns === 'stream' ? '-N' : `-m ${TIMEOUT}`;
  const lines = [`curl ${limit} --fail-with-body${method === 'GET' ? '' : ` -X ${method}`} ${quoted(url)}`];
  for (const [name, value] of headers) {
    if (typeof value === 'string') lines.push(`-H ${quoted(`${name}: ${value}`)}`);
    else lines.push(`-H "${name}: ${value.variable === 'key' ? '$KEY' : '$(od -An -N8 -tx8 /dev/urandom)'}"`);
  }
  if (body !== undefined) lines.push(`-d ${quoted(JSON.stringify(body))}`);
  return lines.join(' \\\n  ');
}

/** A module for Node.js 20 or newer. @param {Call} call @param {SampleRequest} request */
function asJavaScript({ returns }, { method, url, headers, body }) {
  const variables = { key: 'process.env.KEY', uuid: 'crypto.randomUUID()' };
  const options = [
    method !== 'GET' && `method: '${method}'`,
    headers.length > 0 &&
      `headers: {\n${headers.map(([name, value]) => `    '${name}': ${headerCode(value, variables, literal)},\n`).join('')}  }`,
    body !== undefined && `body: JSON.stringify(${object(body, '  ')})`,
    returns !== 'stream' && `signal: AbortSignal.timeout(${TIMEOUT}_000)`,
  ].filter(Boolean);
  return `const response = await fetch(${literal(url)}, {
${options.map(option => `  ${option},\n`).join('')}});
if (!response.ok) throw new Error(\`\${response.status} \${await response.text()}\`);
${
  returns === 'stream'
    ? 'for await (const text of response.body.pipeThrough(new TextDecoderStream())) process.stdout.write(text);'
    : `console.log(await response.${returns === 'json' || returns === 'list' ? 'json' : 'text'}());`
}`;
}

/** With the client of this project. @param {Call} call @param {SampleRequest} request @param {Values} values @param {string} base */
function asTypeScript({ client, returns, isSecured, parameters }, { body }, values, base) {
  const filled = parameters.filter(({ name }) => (values.parameters[name] ?? '') !== '');
  /** @param {import('./types.d.ts').CallParameter} parameter */
  const valueIn = parameter => {
    const { name, kind, isList } = parameter;
    const items = itemsOf(parameter, values.parameters[name] ?? '').map(item =>
      kind === 'string' ? item : JSON.parse(item),
    );
    return isList ? items : items[0];
  };
  const query = Object.fromEntries(
    filled
      .filter(({ in: place }) => place === 'query')
      .map(parameter => [parameter.name, valueIn(parameter)]),
  );
  const options = optionsOf(
    filled.filter(({ in: place }) => place === 'header').map(({ name }) => name),
    values,
  );
  const args = filled
    .filter(({ in: place }) => place === 'path')
    .map(parameter => object(valueIn(parameter)));
  if (returns === 'stream') {
    const { cursor, type, subject } = query;
    const from = options.headers?.['Last-Event-ID'] ?? cursor;
    const subscription = JSON.parse(JSON.stringify({ from, types: type, subject }));
    if (Object.keys(subscription).length > 0) args.push(object(subscription));
  } else {
    if (body !== undefined) args.push(object(body));
    else if (Object.keys(query).length > 0) args.push(object(query));
    if (Object.keys(options).length > 0) {
      const takesQuery = parameters.some(({ in: place }) => place === 'query');
      if (takesQuery && body === undefined && Object.keys(query).length === 0) args.push('{}');
      args.push(object(options));
    }
  }
  const call = `store.${client}(${args.join(', ')})`;
  const key = isSecured ? ', apiKey: process.env.KEY' : '';
  const uses =
    returns === 'list' || returns === 'stream'
      ? `for await (const item of ${call}) console.log(item);`
      : returns === 'nothing'
        ? `await ${call};`
        : `console.log(await ${call});`;
  return [
    "import { PetStore } from '@petstore/client';",
    '',
    `const store = new PetStore({ baseUrl: ${literal(base)}${key} });`,
    uses,
  ].join('\n');
}

/**
 * The options of a call of the client, from the headers of the form.
 *
 * @param {string[]} names
 * @param {Values} values
 */
function optionsOf(names, values) {
  /** @type {Record<string, string>} */
  const known = {
    'If-Match': 'ifMatch',
    'If-None-Match': 'ifNoneMatch',
    'Idempotency-Key': 'idempotencyKey',
  };
  /** @type {{ headers?: Record<string, string> } & Record<string, unknown>} */
  const options = {};
  for (const name of names) {
    const value = values.parameters[name] ?? '';
    const option = known[name];
    if (option) options[option] = value;
    else options.headers = { ...options.headers, [name]: value };
  }
  return options;
}

/** For Python 3 with `requests`. @param {Call} call @param {SampleRequest} request */
function asPython({ returns }, { method, url, headers, body }) {
  const variables = { key: 'os.environ["KEY"]', uuid: 'str(uuid.uuid4())' };
  // `json` sets this header by itself.
  const sent = headers.filter(([name, value]) => !(name === 'Content-Type' && value === 'application/json'));
  const lines = sent.map(
    ([name, value]) => `        "${name}": ${headerCode(value, variables, pythonValue)},\n`,
  );
  const imports = [uses(sent, 'key') && 'os', uses(sent, 'uuid') && 'uuid', 'requests'].filter(Boolean);
  const args = [
    pythonValue(url),
    lines.length > 0 && `headers={\n${lines.join('')}    }`,
    body !== undefined && `json=${pythonValue(body)}`,
    returns === 'stream' && 'stream=True',
    `timeout=${TIMEOUT}`,
  ].filter(Boolean);
  const call = `requests.${method.toLowerCase()}(\n${args.map(arg => `    ${arg},\n`).join('')})`;
  const check =
    'if response.status_code >= 300:\n    raise SystemExit(f"{response.status_code} {response.text}")';
  const start = `${imports.map(name => `import ${name}\n`).join('')}\n`;
  if (returns === 'stream')
    return `${start}with ${call} as response:
    ${check.replace('\n', '\n    ')}
    for line in response.iter_lines():
        print(line.decode(), flush=True)`;
  const isJson = returns === 'json' || returns === 'list';
  return `${start}response = ${call}\n${check}\nprint(response.${isJson ? 'json()' : 'text'})`;
}

/** For PHP 8 with its extension for curl. @param {Call} call @param {SampleRequest} request */
function asPhp({ returns }, { method, url, headers, body }) {
  const variables = { key: "getenv('KEY')", uuid: 'bin2hex(random_bytes(16))' };
  const lines = headers.map(([name, value]) =>
    typeof value === 'string' ? phpText(`${name}: ${value}`) : `'${name}: ' . ${variables[value.variable]}`,
  );
  const options = [
    method !== 'GET' && `CURLOPT_CUSTOMREQUEST => '${method}'`,
    lines.length > 0 && `CURLOPT_HTTPHEADER => [\n${lines.map(line => `        ${line},\n`).join('')}    ]`,
    body !== undefined && `CURLOPT_POSTFIELDS => json_encode(${phpValue(body)})`,
    returns === 'stream'
      ? 'CURLOPT_WRITEFUNCTION => function ($curl, $text) {\n        echo $text;\n        return strlen($text);\n    }'
      : `CURLOPT_RETURNTRANSFER => true,\n    CURLOPT_TIMEOUT => ${TIMEOUT}`,
  ].filter(Boolean);
  return `<?php
$curl = curl_init(${phpText(url)});
curl_setopt_array($curl, [
${options.map(option => `    ${option},\n`).join('')}]);
$body = curl_exec($curl);
$status = curl_getinfo($curl, CURLINFO_RESPONSE_CODE);
if ($body === false || $status >= 300) {
    fwrite(STDERR, "$status ${returns === 'stream' ? '' : '$body '}" . curl_error($curl) . "\\n");
    exit(1);
}${returns === 'stream' ? '' : '\necho $body, "\\n";'}`;
}

/** With the standard library of Go. @param {Call} call @param {SampleRequest} request */
function asGo({ returns }, { method, url, headers, body }) {
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
	request, err := http.NewRequest("${method}", ${goText(url)}, ${body === undefined ? 'nil' : `strings.NewReader(${goText(JSON.stringify(body))})`})
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
}${headers.map(([name, value]) => `\trequest.Header.Set("${name}", ${headerCode(value, variables, goText)})\n`).join('')}	client := http.Client{${hasLimit ? `Timeout: ${TIMEOUT} * time.Second` : ''}}
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

/** A value of JavaScript. Short objects take one line. @param {unknown} value @param {string} indent */
function object(value, indent = '') {
  return code(value, indent, {
    text: literal,
    null: 'null',
    list: ['[', ']'],
    object: ['{ ', ' }'],
    entry: (name, item) => `${/^[A-Za-z_]\w*$/.test(name) ? name : literal(name)}: ${item}`,
  });
}

/** @param {unknown} value */
function pythonValue(value) {
  return code(value, '    ', {
    text: text => JSON.stringify(text),
    null: 'None',
    true: 'True',
    false: 'False',
    list: ['[', ']'],
    object: ['{', '}'],
    entry: (name, item) => `${JSON.stringify(name)}: ${item}`,
  });
}

/** A text of PHP, in which nothing is replaced. @param {string} text */
function phpText(text) {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}

/** @param {unknown} value */
function phpValue(value) {
  return code(value, '    ', {
    text: phpText,
    null: 'null',
    list: ['[', ']'],
    object: ['[', ']'],
    empty: 'new stdClass()',
    entry: (name, item) => `${phpText(name)} => ${item}`,
  });
}

/** A text of Go, between backticks if that saves escapes. A file of Go must not contain U+FEFF. @param {string} text */
function goText(text) {
  if (text.includes('"') && !/[`\p{C}]/u.test(text)) return `\`${text}\``;
  return JSON.stringify(text).replaceAll('\uFEFF', '\\uFEFF');
}

/** The longest list or object that takes one line, in characters. */
const LINE = 60;

/**
 * A value in a language.
 *
 * @param {unknown} value
 * @param {string} indent of the line that contains it
 * @param {{ text: (text: string) => string, null: string, true?: string, false?: string, empty?: string, list: [string, string], object: [string, string], entry: (name: string, item: string) => string }} language
 * @returns {string}
 */
function code(value, indent, language) {
  if (typeof value === 'string') return language.text(value);
  if (value === null) return language.null;
  if (typeof value === 'boolean') return language[`${value}`] ?? String(value);
  if (typeof value !== 'object') return String(value);
  const inner = `${indent}  `;
  const isList = Array.isArray(value);
  const [open, close] = isList ? language.list : language.object;
  const entries = isList
    ? value.map(item => code(item, inner, language))
    : Object.entries(Object(value)).map(([name, item]) => language.entry(name, code(item, inner, language)));
  if (entries.length === 0) return (!isList && language.empty) || (open + close).replace('  ', '');
  const line = `${open}${entries.join(', ')}${close}`;
  if (line.length <= LINE && !line.includes('\n')) return line;
  return `${open.trim()}\n${entries.map(entry => `${inner}${entry},\n`).join('')}${indent}${close.trim()}`;
}
