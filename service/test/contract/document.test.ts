import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { valuesOf } from '../support/values.ts';
import { document, documentedOperations, headersOf, responsesOf } from './document.ts';

const EVERY_RESPONSE = [
  'API-Version',
  'Cache-Control',
  'X-Content-Type-Options',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'X-Request-Id',
];

it('openapi.yaml is OpenAPI 3.0.3, with version 1.0.0 of the API', () => {
  assert.equal(document.openapi, '3.0.3');
  assert.equal(document.info.version, '1.0.0');
});

it('only GET /store/orders has no form to try it', () => {
  const hidden = documentedOperations.filter(({ operation }) => operation['x-hideTryItPanel']);
  assert.deepEqual(valuesOf(hidden, 'method', 'path'), [['GET', '/store/orders']]);
});

// The linters check that each example is a valid value.
it('every schema, body, parameter and header has an example', () => {
  const { schemas, parameters, headers } = document.components;
  for (const [name, { example }] of Object.entries({ ...schemas, ...parameters, ...headers }))
    assert.notEqual(example, undefined, name);
  for (const { path, operation } of documentedOperations) {
    const { operationId, parameters = [], requestBody } = operation;
    for (const parameter of parameters)
      assert.ok(
        '$ref' in parameter || parameter.example !== undefined,
        `${operationId}: ${JSON.stringify(parameter)}`,
      );
    if (path.startsWith('/openapi')) continue;
    const bodies = [requestBody, ...responsesOf(operation).map(([, response]) => response)];
    for (const { example, examples } of bodies.flatMap(body => Object.values(body?.content ?? {})))
      assert.ok(example !== undefined || Object.keys(examples ?? {}).length > 0, operationId);
  }
});

describe('every operation', () => {
  // The linters check references, and that each operationId is unique.
  it('has an operationId, a summary of one line and a description', () => {
    for (const { operation } of documentedOperations) {
      const { operationId, summary, description } = operation;
      assert.match(operationId, /^[a-z][A-Za-z]+$/);
      assert.match(summary, /^[A-Z][^\n]{3,60}[^.\n]$/, operationId);
      assert.ok(description.length > summary.length, operationId);
    }
  });

  it('is in one leaf of the navigation, and the groups contain no operations themselves', () => {
    const groups = document['x-tagGroups'];
    assert.deepEqual(valuesOf(groups, 'name'), ['Pets', 'Store', 'Platform']);
    const leaves = groups.flatMap(({ tags }) => tags);
    for (const { operation } of documentedOperations) {
      assert.equal(operation.tags.length, 1);
      assert.ok(leaves.includes(operation.tags[0]!), `${operation.operationId}: ${operation.tags[0]}`);
    }
    for (const { name, tags } of groups) {
      for (const leaf of tags) {
        assert.equal(document.tags.find(tag => tag.name === leaf)?.['x-parent'], name);
        assert.ok(
          documentedOperations.some(({ operation }) => operation.tags[0] === leaf),
          `${leaf} is empty`,
        );
      }
    }
    assert.deepEqual(valuesOf(document.tags, 'name'), [...groups.map(({ name }) => name), ...leaves]);
  });

  it('states whether it needs a key, and which scopes', () => {
    for (const { operation } of documentedOperations) {
      const scopes = operation['x-required-scopes'];
      const needsKey = operation.security.length > 0;
      const security = needsKey ? [{ apiKey: [] }, { bearer: [] }] : [];
      assert.deepEqual(operation.security, security, operation.operationId);
      const noun = scopes?.length === 1 ? 'scope' : 'scopes';
      const anyOf = operation['x-required-scopes-any-of']?.map(scope => `\`${scope}\``);
      const more = anyOf ? `, and one of the scopes ${anyOf[0]}, ${anyOf[1]} and ${anyOf[2]}` : '';
      const requirement = scopes
        ? `Requires the ${noun} ${scopes.map(scope => `\`${scope}\``).join(' and ')}${more}.`
        : 'Requires an API key with any scope.';
      assert.equal(operation.description.includes(requirement), needsKey, operation.operationId);
    }
  });

  it('has the headers that every response carries on each of its responses', () => {
    for (const { operation } of documentedOperations) {
      for (const [status, response] of responsesOf(operation)) {
        const headers = headersOf(response);
        for (const name of EVERY_RESPONSE) {
          assert.ok(headers[name]?.required, `${operation.operationId} ${status}: ${name}`);
        }
      }
    }
  });

  it('documents its errors, and their headers', () => {
    for (const { method, operation } of documentedOperations) {
      const responses = new Map(responsesOf(operation));
      const needed = ['400', '408', '414', '431', '500'];
      if (operation.security.length > 0) needed.push('401', '406', '429', '503');
      if (operation['x-required-scopes'] !== undefined) needed.push('403');
      if (method !== 'GET') needed.push('413', '415');
      for (const status of needed) assert.ok(responses.has(status), `${operation.operationId} ${status}`);
      for (const [status, response] of responses) {
        const headers = headersOf(response);
        assert.equal('WWW-Authenticate' in headers, status === '401', `${operation.operationId} ${status}`);
        assert.equal('Retry-After' in headers, status === '429' || status === '503');
        assert.equal('Location' in headers, status === '201');
        for (const name of ['WWW-Authenticate', 'Retry-After', 'Location'])
          assert.ok(headers[name]?.required !== false, `${operation.operationId} ${status}: ${name}`);
      }
    }
  });

  it('states which of its responses always have Deprecation, Sunset and ETag', () => {
    // The service may not know the operation of these: it could not read the request, or accepted no connection.
    const unread = ['400', '408', '414', '431', '503'];
    for (const { operation } of documentedOperations) {
      const { operationId } = operation;
      for (const [status, response] of responsesOf(operation)) {
        const headers = headersOf(response);
        const isDeprecated = operation.deprecated === true;
        for (const name of ['Deprecation', 'Sunset'])
          assert.equal(
            headers[name]?.required,
            isDeprecated ? !unread.includes(status) : undefined,
            `${operationId} ${status}: ${name}`,
          );
        if (headers.ETag)
          assert.equal(headers.ETag.required, operationId !== 'listPets' || status === '304', operationId);
      }
    }
  });

  it('that accepts a body names its media types, with merge patches only for PATCH', () => {
    for (const { method, operation } of documentedOperations) {
      if (!operation.requestBody) continue;
      const types = ['application/json', ...(method === 'PATCH' ? ['application/merge-patch+json'] : [])];
      assert.deepEqual(Object.keys(operation.requestBody.content), types, operation.operationId);
    }
  });

  it('that lists has a limit, a cursor, a sort unless it is a log, and a link to the next page', () => {
    const lists = documentedOperations.filter(({ operation }) => operation.operationId.startsWith('list'));
    assert.equal(lists.length, 11);
    for (const { operation } of lists) {
      const names = (operation.parameters ?? []).map(parameter =>
        'name' in parameter ? parameter.name : '',
      );
      for (const name of ['limit', 'cursor']) assert.ok(names.includes(name), operation.operationId);
      // The log of events, its history and its seals have one order.
      const isSorted = !/^list(Events|History|Seals)$/.test(operation.operationId);
      assert.equal(names.includes('sort'), isSorted, operation.operationId);
      const [, response] = responsesOf(operation)[0]!;
      assert.ok('Link' in headersOf(response), operation.operationId);
    }
  });
});
