import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Ajv, type ValidateFunction } from 'ajv';
import ajvFormats from 'ajv-formats';
import {
  document,
  documentedOperations,
  type MediaObject,
  responsesOf,
  type SchemaObject,
} from './document.ts';

const ajv = new Ajv({ strict: false, allErrors: true });
ajvFormats.default(ajv as never);
ajv.addSchema({ $id: 'contract', components: document.components });

/** By the text of the schema: many examples have the same one, and compiling takes much longer than checking. */
const validators = new Map<string, ValidateFunction>();

function assertFits(schema: SchemaObject, example: unknown, where: string): void {
  assert.notEqual(example, undefined, `${where} has no example`);
  const text = JSON.stringify(schema).replaceAll('"#/components', '"contract#/components');
  const validate = validators.get(text) ?? ajv.compile(JSON.parse(text));
  validators.set(text, validate);
  assert.ok(validate(example), `${where}: ${JSON.stringify(example)} ${ajv.errorsText(validate.errors)}`);
}

function assertMediaFits(content: Record<string, MediaObject>, where: string): void {
  for (const [type, { schema, example, examples }] of Object.entries(content)) {
    const values = examples ? Object.values(examples).map(({ value }) => value) : [example];
    for (const value of values) assertFits(schema, value, `${where} ${type}`);
  }
}

describe('an example in openapi.yaml', () => {
  it('of a schema is a valid value', () => {
    for (const [name, schema] of Object.entries(document.components.schemas)) {
      assertFits({ $ref: `#/components/schemas/${name}` }, schema.example, name);
    }
  });

  it('of a request body is a body that the operation accepts', () => {
    for (const { operation } of documentedOperations) {
      if (operation.requestBody) assertMediaFits(operation.requestBody.content, operation.operationId);
    }
  });

  it('of a response is a body that the operation returns', () => {
    for (const { path, operation } of documentedOperations) {
      if (path.startsWith('/openapi')) continue;
      for (const [status, { content }] of responsesOf(operation)) {
        if (content) assertMediaFits(content, `${operation.operationId} ${status}`);
      }
    }
  });

  it('of a parameter or a header is a valid value', () => {
    for (const { operation } of documentedOperations) {
      for (const parameter of operation.parameters ?? []) {
        if ('$ref' in parameter) continue;
        assertFits(parameter.schema, parameter.example, `${operation.operationId} ${parameter.name}`);
      }
    }
    const { parameters, headers } = document.components;
    for (const [name, { schema, example }] of Object.entries({ ...parameters, ...headers })) {
      assertFits(schema, example, name);
    }
  });
});
