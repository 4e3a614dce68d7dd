// Writes the types and the lists of the TypeScript client, sdk/src/contract.ts and resources/lists.ts, and the operations of its test
// service, sdk/testing/operations.ts, from openapi.yaml. With --check it compares them instead.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import {
  ContractView,
  type Operation,
  type Parameter,
  type Reference,
  type Schema,
} from '../service/src/portal/contract.ts';
import { writeOrCheck } from './written-file.ts';

const root = join(import.meta.dirname, '..');
const GENERATED = '// Generated from openapi.yaml by `npm run openapi`. Do not edit.';

/** Returns the source of the types. Throws for a part of a schema that it does not know. */
function typesOf({ document, operations }: ContractView): string {
  return [
    GENERATED,
    ...Object.entries(document.components.schemas).flatMap(([name, schema]) => [
      `${comment(schema.description)}export type ${typeName(name)} = ${typeOf(schema)};`,
      ...storedType(name, schema),
    ]),
    `/** The codes of errors. Later releases may add some: treat an unknown one by its status. */\nexport type ErrorCode =${Object.entries(
      document['x-error-codes'],
    )
      .map(([code, { description }]) => `\n${indented(`${comment(description)}| ${literal(code)}`)}`)
      .join('')};`,
    `/** The operations of the contract: what they take, and what they return. */\nexport interface Operations {\n${indented(operations.map(operationType).join('\n'))}\n}`,
  ]
    .join('\n\n')
    .concat('\n');
}

/** Returns the source of what programs need as values: types do not exist at run time. */
function listsOf(contract: ContractView): string {
  const { schemas } = contract.document.components;
  const shapes = Object.entries(schemas).filter(([, { properties }]) => properties !== undefined);
  const fields = shapes.map(
    ([name, { properties }]) => `${typeName(name)}: ${literals(Object.keys(properties!))}`,
  );
  const types = Object.keys(schemas.KnownEvent!.discriminator!.mapping!);
  return [
    GENERATED,
    `/** The fields of each shape. */\nexport const fields = {\n${indented(fields.map(field => `${field},`).join('\n'))}\n} as const;`,
    `/** The types of events. */\nexport const eventTypes = ${literals(types)} as const;\n`,
  ].join('\n\n');
}

/** The operations of the test service: those of the shop, and what programs need to follow it. */
const tested = /^\/(pets|categories|store|batch|account$|events$|events\/stream$)/;

/** Returns the source of the operations that the test service has, with the schemas that it checks. */
function testedOperations(contract: ContractView): string {
  const operations = contract.operations.filter(({ path }) => tested.test(path));
  const entries = operations.map(operation => {
    const { method, path, scopes, anyOfScopes, stability, body } = operation;
    const object = contract.document.paths[path]![method.toLowerCase()]!;
    const deprecation = object.deprecated && {
      operationId: object.operationId,
      since: object['x-deprecated-since'],
      sunset: object['x-deprecated-sunset'],
      successor: object['x-deprecated-successor'],
    };
    const value = {
      scopes,
      anyOfScopes,
      stability,
      deprecation,
      path: parameterRules(contract, operation, 'path'),
      query: parameterRules(contract, operation, 'query'),
      body: body && rulesOf(contract, body.media.schema),
    };
    return `  ${literal(`${method} ${path}`)}: ${JSON.stringify(value)},`;
  });
  return [
    GENERATED,
    "import type { TestedOperation } from './rules.ts';",
    `export const operations: Readonly<Record<string, TestedOperation>> = {\n${entries.join('\n')}\n};\n`,
  ].join('\n\n');
}

/** The rules for the parameters of an operation: those of an object. */
function parameterRules(contract: ContractView, { parameters }: Operation, place: string): object {
  const here = parameters.filter(parameter => parameter.in === place);
  const properties = here.map(({ name, schema }) => [name, rulesOf(contract, schema)]);
  return { type: 'object', properties: Object.fromEntries(properties) };
}

/** The parts of a schema that decide whether a value is valid. */
function rulesOf(contract: ContractView, reference: Schema | Reference): object {
  const schema = contract.schema(reference);
  const { type = 'object', format, enum: values, nullable, items, pattern, minimum, maximum } = schema;
  const { minLength, maxLength, minItems, maxItems, required, properties } = schema;
  return {
    type,
    format,
    enum: values,
    nullable,
    pattern,
    minimum,
    maximum,
    minLength,
    maxLength,
    minItems,
    maxItems,
    required,
    items: items && rulesOf(contract, items),
    properties:
      properties &&
      Object.fromEntries(
        Object.entries(properties).map(([name, property]) => [name, rulesOf(contract, property)]),
      ),
  };
}

function literals(values: readonly unknown[]): string {
  return `[${values.map(literal).join(', ')}]`;
}

function operationType(operation: Operation): string {
  const { method, path, summary, parameters, body, deprecation } = operation;
  const parts = [
    ...(['path', 'query'] as const).map(place =>
      parameterTypes(
        place,
        parameters.filter(parameter => parameter.in === place),
      ),
    ),
    body && `body${body.isRequired ? ':' : '?: undefined |'} ${typeOf(body.media.schema, true)};`,
    `result: ${resultType(operation)};`,
  ].filter(part => part !== undefined);
  const description = deprecation ? `${summary}. @deprecated It ends on ${deprecation.sunset}.` : summary;
  return `${comment(description)}${literal(`${method} ${path}`)}: {\n${indented(parts.join('\n'))}\n};`;
}

function parameterTypes(place: string, parameters: readonly Parameter[]): string | undefined {
  if (parameters.length === 0) return undefined;
  const fields = parameters.map(({ name, required, description, schema }) => {
    // One value of a repeatable parameter needs no array.
    const type =
      'items' in schema ? `${typeOf(schema.items!)} | readonly ${arrayOf(schema.items!)}` : typeOf(schema);
    return `${comment(description)}${name}${required ? '' : '?'}: ${type}${required ? '' : ' | undefined'};`;
  });
  return `${place}: {\n${indented(fields.join('\n'))}\n};`;
}

function resultType({ responses }: Operation): string {
  const media = responses.find(({ status }) => status.startsWith('2'))?.media;
  return media === undefined ? 'undefined' : typeOf(media.schema);
}

/** The type of a shape in responses, if they have fields that a body may leave out. */
function storedType(name: string, { 'x-always-present': added }: Schema): string[] {
  if (added === undefined) return [];
  const type = `${name} & Required<Pick<${name}, ${added.map(literal).join(' | ')}>>`;
  return [
    `/** Every response has these fields; a body may leave them out. */\nexport type Stored${name} = ${type};`,
  ];
}

function typeOf(schema: Schema | Reference, isBody = false): string {
  if ('$ref' in schema) return referenced(nameIn(schema.$ref), isBody);
  return schema.nullable ? `${plainTypeOf(schema, isBody)} | null` : plainTypeOf(schema, isBody);
}

function plainTypeOf(schema: Schema, isBody: boolean): string {
  const { type, items } = schema;
  // With it, the type of an event would not determine its shape for the compiler. Programs ignore types that they do not know.
  const members = (schema.oneOf ?? schema.anyOf)?.filter(member => !isFor(member, 'OtherEvent'));
  if (members !== undefined) return members.map(member => typeOf(member, isBody)).join(' | ');
  if (schema['x-extensible-enum']?.join() === errorCodes) return 'ErrorCode';
  if (schema.enum !== undefined)
    return schema.enum
      .filter(value => value !== null)
      .map(literal)
      .join(' | ');
  if (type === 'array') return arrayOf(items!);
  if (type === 'object') return objectType(schema);
  if (type === 'integer' || type === 'number') return 'number';
  if (type === 'string' || type === 'boolean') return type;
  if (type === undefined) return 'unknown';
  throw new Error(
    `openapi.yaml has a schema that ${import.meta.filename} does not know: ${JSON.stringify(schema)}`,
  );
}

function isFor(schema: Schema | Reference, name: string): boolean {
  return '$ref' in schema && nameIn(schema.$ref) === name;
}

function nameIn(reference: string): string {
  return reference.split('/').at(-1)!;
}

function referenced(name: string, isBody: boolean): string {
  const isStored = !isBody && contract.document.components.schemas[name]!['x-always-present'] !== undefined;
  return isStored ? `Stored${name}` : typeName(name);
}

/** The name `Error` would hide the class of the language. */
function typeName(name: string): string {
  return name === 'Error' ? 'ErrorBody' : name;
}

function arrayOf(items: Schema | Reference): string {
  const type = typeOf(items);
  return type.includes(' ') ? `(${type})[]` : `${type}[]`;
}

function objectType({ properties, required = [] }: Schema): string {
  if (properties === undefined) return 'Record<string, unknown>';
  const fields = Object.entries(properties).map(([name, schema]) => {
    const description = 'description' in schema ? schema.description : undefined;
    return `${comment(description)}${name}${required.includes(name) ? '' : '?'}: ${typeOf(schema)};`;
  });
  return `{\n${indented(fields.join('\n'))}\n}`;
}

function literal(value: unknown): string {
  return typeof value === 'string' ? `'${value}'` : JSON.stringify(value);
}

function comment(text: string | undefined): string {
  return text === undefined ? '' : `/** ${text.replaceAll(/\s+/g, ' ').replaceAll('*/', '*\\/')} */\n`;
}

function indented(text: string): string {
  return text.replaceAll(/^(?=.)/gm, '  ');
}

const contract = new ContractView(parse(readFileSync(join(root, 'openapi.yaml'), 'utf8')));
const errorCodes = Object.keys(contract.document['x-error-codes']).join();
writeOrCheck('sdk/src/contract.ts', typesOf(contract), 'npm run openapi');
writeOrCheck('sdk/src/resources/lists.ts', listsOf(contract), 'npm run openapi');
writeOrCheck('sdk/testing/operations.ts', testedOperations(contract), 'npm run openapi');
