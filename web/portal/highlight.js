// @ts-check
/// <reference path="./libraries.d.ts" />
/** Colours of code, as spans with classes: the same in the service and in browsers. */
import hljs from '@highlightjs/cdn-assets/es/core.min.js';
import bash from '@highlightjs/cdn-assets/es/languages/bash.min.js';
import go from '@highlightjs/cdn-assets/es/languages/go.min.js';
import http from '@highlightjs/cdn-assets/es/languages/http.min.js';
import javascript from '@highlightjs/cdn-assets/es/languages/javascript.min.js';
import json from '@highlightjs/cdn-assets/es/languages/json.min.js';
import php from '@highlightjs/cdn-assets/es/languages/php.min.js';
import python from '@highlightjs/cdn-assets/es/languages/python.min.js';
import typescript from '@highlightjs/cdn-assets/es/languages/typescript.min.js';

/** @type {Record<string, unknown>} */
const grammars = { bash, go, http, javascript, json, php, python, typescript };
for (const [name, grammar] of Object.entries(grammars)) hljs.registerLanguage(name, grammar);

/** Other names that documents use. @type {Record<string, string>} */
const aliases = { sh: 'bash', js: 'javascript', ts: 'typescript', py: 'python' };

/**
 * HTML of the code, escaped. Code in an unknown language has no colours.
 *
 * @param {string} code
 * @param {string} language
 */
export function highlighted(code, language) {
  const name = aliases[language] ?? language;
  if (name === 'http') {
    // The grammar would guess the language of the body.
    const [head = '', ...body] = code.split('\n\n');
    const parts = [hljs.highlight(head, { language: 'http' }).value];
    if (body.length > 0) parts.push(hljs.highlight(body.join('\n\n'), { language: 'json' }).value);
    return parts.join('\n\n');
  }
  if (name in grammars) return hljs.highlight(code, { language: name }).value;
  return code.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
