import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Schema } from '../../src/contract/schema.ts';
import { describedRoutes } from '../../src/described-routes.ts';
import { anOrder, aPet } from '../support/factories.ts';
import { filled } from '../support/operations.ts';
import { cursorAfter } from '../support/pages.ts';
import { assertInvalid } from '../support/rejection.ts';
import { startTestApp } from '../support/test-app.ts';

/** Texts that PostgreSQL cannot store, as JSON and percent-encoded. */
const unstorable = {
  NUL: { json: '"a\\u0000b"', encoded: 'a%00b' },
  'a high surrogate': { json: '"\\ud800"', encoded: '%ED%A0%80' },
  'a low surrogate': { json: '"a\\udc00"', encoded: 'a%ED%B0%80' },
};

interface Place {
  name: string;
  /** The JSON value around the text, such as `["…"]`. */
  around: (json: string) => string;
}

/** The places in a value of this schema that can contain text: the value, its items or its fields. */
function placesOf(schema: Schema, name: string, around: Place['around'] = json => json): Place[] {
  if (schema.type === 'string') return [{ name, around }];
  if (schema.items) return placesOf(schema.items, name, json => around(`[${json}]`));
  return Object.entries(schema.properties ?? {}).flatMap(([inner, property]) =>
    placesOf(property, name, json => around(`{"${inner}":${json}}`)),
  );
}

function placesIn({ properties = {} }: Schema): Place[] {
  return Object.entries(properties).flatMap(([name, property]) => placesOf(property, name));
}

const noFields: Schema = { type: 'object' };

describe('text that no store can keep', () => {
  it('is rejected in every query parameter of every operation', async t => {
    const { api } = await startTestApp(t);
    let tried = 0;
    for (const { method, path, query = noFields, body } of describedRoutes) {
      for (const { name } of placesIn(query)) {
        for (const { encoded } of Object.values(unstorable)) {
          const example = body && JSON.stringify(body.example ?? {});
          const target = `${filled(path)}?${name}=${encoded}`;
          const message = assertInvalid(await api.send(method, target, { body: example }));
          assert.match(
            message,
            new RegExp(`(^Q|; q)uery parameter \`${name}`),
            `${method} ${target}: ${message}`,
          );
          tried++;
        }
      }
    }
    assert.ok(tried > 50, `only ${tried} were tried`);
  });

  it('is rejected in every field of every body, PATCH included', async t => {
    const { api } = await startTestApp(t);
    await anOrder(api, { petId: await aPet(api, { stock: 9 }) });
    const methods = new Set<string>();
    for (const { method, path, body, example } of describedRoutes) {
      for (const { name, around } of body ? placesIn(body) : []) {
        for (const { json } of Object.values(unstorable)) {
          const others = Object.entries({ ...(body!.example ?? {}), ...example }).filter(
            ([other]) => other !== name,
          );
          const fields = others.map(([other, value]) => `${JSON.stringify(other)}:${JSON.stringify(value)}`);
          const sent = `{${[...fields, `"${name}":${around(json)}`].join()}}`;
          const response = await api.send(method, filled(path), { body: sent });
          const message = assertInvalid(response);
          assert.match(
            message,
            new RegExp(`(^F|; f)ield \`${name}`),
            `${method} ${path} ${sent}: ${message}`,
          );
          methods.add(method);
        }
      }
    }
    assert.deepEqual([...methods].sort(), ['PATCH', 'POST', 'PUT']);
  });

  it('is rejected in every cursor that contains text', async t => {
    const { api } = await startTestApp(t);
    await api.post('/webhooks', { url: 'https://1.1.1.1', enabled: false });
    let tried = 0;
    for (const { path, query } of describedRoutes) {
      const { cursor, sort } = query?.properties ?? {};
      if (!cursor || !sort) continue;
      for (const order of sort.enum!) {
        for (const { json } of Object.values(unstorable)) {
          for (const key of [[JSON.parse(json)], [JSON.parse(json), 1]]) {
            const target = `${filled(path)}?sort=${order}&cursor=${cursorAfter(order, key)}`;
            assertInvalid(await api.get(target));
            tried++;
          }
        }
      }
    }
    assert.ok(tried > 50, `only ${tried} were tried`);
  });
});

describe('text that would be invisible or displayed in another order', () => {
  const RULE = 'must not contain U+202E RIGHT-TO-LEFT OVERRIDE, but was "a\\u202eb"';
  const textsOf = (schema: Schema = noFields) =>
    Object.entries(schema.properties ?? {}).flatMap(([name, { isDisplayText }]) =>
      isDisplayText ? [name] : [],
    );

  it('is rejected in every name, description and filter by name, with a message that names the character', async t => {
    const { api } = await startTestApp(t);
    await aPet(api);
    const tried = { fields: 0, parameters: 0 };
    for (const { method, path, query, body, example } of describedRoutes) {
      for (const name of textsOf(query)) {
        assertInvalid(await api.get(`${path}?${name}=a%E2%80%AEb`), `Query parameter \`${name}\` ${RULE}`);
        tried.parameters++;
      }
      for (const name of textsOf(body)) {
        const fields = { ...(body!.example ?? {}), ...example, [name]: 'a\u202eb' };
        assertInvalid(
          await api.send(method, filled(path), { body: fields }),
          new RegExp(`ield \`${name}\` must not contain U\\+202E RIGHT-TO-LEFT OVERRIDE`),
        );
        tried.fields++;
      }
    }
    assert.ok(tried.fields >= 12 && tried.parameters >= 4, JSON.stringify(tried));
    const batch = { operations: [{ method: 'POST', path: '/categories', body: { name: 'a\u202eb' } }] };
    const { body } = await api.post('/batch', { atomic: false, ...batch });
    assert.equal(body.results[0].error.message, `Field \`name\` ${RULE}`);
  });
});
