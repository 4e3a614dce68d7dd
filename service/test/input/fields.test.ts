import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { describedRoutes } from '../../src/described-routes.ts';
import type { Route } from '../../src/routes/define-route.ts';
import { aCategory, anOrder, aPet } from '../support/factories.ts';
import { filled } from '../support/operations.ts';
import { assertInvalid } from '../support/rejection.ts';
import { exampleBody } from '../support/route-requests.ts';
import { useShop } from '../support/use-shop.ts';

/** A value of every JSON type. */
const samples = { null: null, boolean: true, integer: 1, number: 1.5, string: 'text', array: [], object: {} };

/** Every path of the contract exists with ID 1. */
const shop = useShop({}, async ({ api }) => {
  await anOrder(api, { petId: await aPet(api, { stock: 9, categoryId: await aCategory(api) }) });
});

const fieldsOf = ({ body }: Route) => Object.entries(body?.properties ?? {});

describe('a field', () => {
  it('of the wrong type is rejected, and the message names it and quotes what was sent', async () => {
    let tried = 0;
    for (const route of describedRoutes) {
      for (const [name, schema] of fieldsOf(route)) {
        for (const [type, value] of Object.entries(samples)) {
          if (type === schema.type || (value === null && schema.nullable)) continue;
          const response = await shop.api.send(route.method, filled(route.path), {
            body: { ...exampleBody(route), [name]: value },
          });
          const message = assertInvalid(response);
          assert.match(message, new RegExp(`^Field \`${name}\` must be (an? |one of |\`true\`)`), message);
          assert.ok(message.includes(`but was ${JSON.stringify(value)}`), message);
          tried++;
        }
      }
    }
    assert.ok(tried > 150, `only ${tried} were tried`);
  });

  it('that does not exist is rejected, and the message suggests the closest field', async () => {
    const { api } = shop;
    for (const route of describedRoutes.filter(({ body }) => body)) {
      const send = (field: string) =>
        api.send(route.method, filled(route.path), { body: { ...exampleBody(route), [field]: 1 } });
      for (const [name, schema] of fieldsOf(route)) {
        const misspelled = `${name.slice(0, -2)}${name.at(-1)}${name.at(-2)}`;
        const message = assertInvalid(await send(misspelled));
        // A field that the client cannot change is no suggestion.
        if (schema.readOnly)
          assert.match(message, new RegExp(`^Unknown field \`${misspelled}\`; known (?:are|is) `));
        else assert.equal(message, `Unknown field \`${misspelled}\`; did you mean \`${name}\`?`);
      }
      assertInvalid(await send('zebra'), /^Unknown field `zebra`; known (?:are|is) `/);
    }
  });

  it('that is required and missing is reported as missing', async () => {
    for (const route of describedRoutes) {
      for (const name of route.body?.required ?? []) {
        const { [name]: _left, ...body } = exampleBody(route) as Record<string, unknown>;
        const response = await shop.api.send(route.method, filled(route.path), { body });
        assertInvalid(response, `Field \`${name}\` is required`);
      }
    }
  });

  it('is measured as sent, and must not be blank', async () => {
    const { api } = shop;
    let tried = 0;
    for (const route of describedRoutes) {
      for (const [name, { maxLength, pattern }] of fieldsOf(route)) {
        if (maxLength === undefined || pattern === undefined) continue;
        const value = 'https://example.com';
        const send = (text: string) =>
          api.send(route.method, filled(route.path), { body: { ...route.example, [name]: text } });
        assertInvalid(
          await send(value.padEnd(maxLength + 1)),
          new RegExp(`(^F|; f)ield \`${name}\` must have at most ${maxLength} characters`),
        );
        const emoji = '🐶'.padEnd(maxLength + 2);
        assertInvalid(await send(emoji), /at most/);
        tried++;
      }
    }
    assert.ok(tried > 10, `only ${tried} were tried`);
    for (const [method, path] of [
      ['POST', '/categories'],
      ['PUT', '/categories/1'],
      ['PATCH', '/categories/1'],
      ['PATCH', '/pets/1'],
    ] as const) {
      const longest = `${' '.repeat(90)}${method} ${path}`.padEnd(200);
      const { status, body, text } = await api.send(method, path, { body: { name: longest } });
      assert.ok(status < 300, text);
      assert.equal(body.name, `${method} ${path}`);
      assertInvalid(
        await api.send(method, path, { body: { name: ' '.repeat(9) } }),
        `Field \`name\` must not be blank, but was "${' '.repeat(9)}"`,
      );
    }
  });

  it('can be as large as its range allows', async () => {
    const accepted: [method: string, path: string, body: object][] = [
      ['POST', '/categories', { name: '🐶'.repeat(200), description: '\n\t'.repeat(10).padEnd(2000, 'é') }],
      ['PUT', '/store/inventory/1', { quantity: 2 ** 31 - 1 }],
      ['POST', '/store/orders', { quantity: 2 ** 31 - 1, shipDate: '9999-12-31T23:59:59.999Z' }],
      ['POST', '/store/orders', { id: 2 ** 53 - 1 }],
    ];
    for (const [method, path, body] of accepted) {
      const { status, text } = await shop.api.send(method, path, { body });
      assert.ok(status < 300, text);
    }
  });

  it('with an error is reported together with all other wrong fields', async () => {
    const wrong = { id: 'x', petId: 0, quantity: '1', shipDate: 5, complete: 1 };
    const message = assertInvalid(await shop.api.post('/store/orders', wrong));
    for (const name of Object.keys(wrong))
      assert.match(message, new RegExp(`(^F|; f)ield \`${name}\` must be`));
  });
});
