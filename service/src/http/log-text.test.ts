import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { newSecret } from '../access/api-keys/secret.ts';
import { loggedText, MAX_LOGGED } from './log-text.ts';

function parsed(logged: string): string {
  return JSON.parse(`"${logged}"`);
}

describe('a text in a log line', () => {
  for (const text of [
    '/pets/12',
    '/pets/a%20b',
    'curl/8.5.0',
    'a "b" \\c',
    '',
    'Zoë 🐕',
    '/docs/assets/app.css',
  ]) {
    it(`is JSON for the same text: ${text}`, () => {
      assert.equal(parsed(loggedText(text)), text);
    });
  }

  it('is printable ASCII in one line, whatever the text contains', () => {
    const units = Array.from({ length: 0x10000 }, (_, unit) => String.fromCharCode(unit));
    for (let i = 0; i < units.length; i += 128) {
      const text = units.slice(i, i + 128).join('|');
      const logged = loggedText(text);
      assert.match(logged, /^[ -~]*$/);
      assert.ok(text.startsWith(parsed(logged).slice(0, 200)) || /[0-9A-Za-z]/.test(text));
    }
  });

  it('has no API key, however the key is written', () => {
    const key = newSecret();
    const secret = key.slice('psk_'.length);
    const escaped = Array.from(key, char => `%${char.charCodeAt(0).toString(16)}`).join('');
    for (const spelling of [
      key,
      secret,
      key.toUpperCase(),
      key.slice(0, 12),
      `%70sk_${secret}`,
      `psk%5F${secret}`,
      escaped,
      escaped.toUpperCase(),
      `${key}${key}`,
    ]) {
      for (const before of ['/pets/', `/${'x/'.repeat(120)}`, `/${'-'.repeat(MAX_LOGGED - 10)}`]) {
        const logged = parsed(loggedText(`${before}${spelling}/rest`));
        const decoded = decodeURIComponent(logged.replace(/%(?![0-9a-f]{2})/gi, '%25'));
        for (let i = 0; i + 8 <= secret.length; i++) {
          const part = secret.slice(i, i + 8);
          assert.ok(!decoded.toLowerCase().includes(part.toLowerCase()), `${spelling} → ${logged}`);
        }
      }
    }
  });

  it('is shortened', () => {
    const logged = parsed(loggedText('/x'.repeat(10_000)));
    assert.equal(logged.length, MAX_LOGGED);
    assert.ok(logged.endsWith('…'));
  });
});
