// Writes the types and the lists of the TypeScript client, sdk/src/contract.ts and resources/lists.ts, from openapi.yaml. With
// --check it compares them instead.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

const root = join(import.meta.dirname, '..');
const GENERATED = '// Generated from openapi.yaml by `npm run openapi`. Do not edit.';

interface Schema {
  $ref?: string;
  type?: string;
  enum?: unknown[];
  nullable?: boolean;
  description?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  oneOf?: Schema[];
  anyOf?: Schema[];
}

interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required?: boolean;
  description?: string;
  schema: Schema;
}

type Content = Record<string, { schema: Schema }>;

interface Operation {
  summary: string;
  parameters?: (Parameter | { $ref: string })[];
  requestBody?: { required?: boolean; content: Content };
  responses: Record<string, { content?: Content }>;
  'x-deprecated-sunset'?: string;
}

interface Contract {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
  'x-error-codes': Record<string, { description: string }>;
}

/** Returns the source of the types. Throws for a part of a schema that it does not know. */
function typesOf({ paths, components, 'x-error-codes': codes }: Contract): string {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) =>
      operationType(`${method.toUpperCase()} ${path}`, operation),
    ),
  );
  return [
    GENERATED,
    ...Object.entries(components.schemas).map(
      ([name, schema]) => `${comment(schema.description)}export type ${typeName(name)} = ${typeOf(schema)};`,
    ),
    `/** The codes of errors. */\nexport type ErrorCode =${Object.entries(codes)
      .map(([code, { description }]) => `\n${indented(`${comment(description)}| ${literal(code)}`)}`)
      .join('')};`,
    `/** The operations of the contract: what they take, and what they return. */\nexport interface Operations {\n${indented(operations.join('\n'))}\n}`,
  ]
    .join('\n\n')
    .concat('\n');
}

/** Returns the source of what programs need as values: types do not exist at run time. */
function listsOf({ components: { schemas } }: Contract): string {
  const shapes = Object.entries(schemas).filter(([, { properties }]) => properties !== undefined);
  const fields = shapes.map(
    ([name, { properties }]) => `${typeName(name)}: ${literals(Object.keys(properties!))}`,
  );
  const types = schemas.Event!.oneOf!.flatMap(({ $ref }) => schemas[nameIn($ref!)]!.properties!.type!.enum!);
  return [
    GENERATED,
    `/** The fields of each shape. */\nexport const fields = {\n${indented(fields.map(field => `${field},`).join('\n'))}\n} as const;`,
    `/** The types of events. */\nexport const eventTypes = ${literals(types)} as const;\n`,
  ].join('\n\n');
}

function literals(values: readonly unknown[]): string {
  return `[${values.map(literal).join(', ')}]`;
}

function operationType(name: string, operation: Operation): string {
  const parameters = (operation.parameters ?? []).filter(parameter => 'name' in parameter);
  const { requestBody: body } = operation;
  const sunset = operation['x-deprecated-sunset'];
  const parts = [
    ...(['path', 'query'] as const).map(place =>
      parameterTypes(
        place,
        parameters.filter(parameter => parameter.in === place),
      ),
    ),
    body && `body${body.required ? ':' : '?: undefined |'} ${typeOf(schemaIn(body.content))};`,
    `result: ${resultType(operation)};`,
  ].filter(part => part !== undefined);
  const description =
    sunset === undefined ? operation.summary : `${operation.summary}. @deprecated It ends on ${sunset}.`;
  return `${comment(description)}${literal(name)}: {\n${indented(parts.join('\n'))}\n};`;
}

function parameterTypes(place: string, parameters: readonly Parameter[]): string | undefined {
  if (parameters.length === 0) return undefined;
  const fields = parameters.map(({ name, required, description, schema }) => {
    // One value of a repeatable parameter needs no array.
    const type =
      schema.type === 'array'
        ? `${typeOf(schema.items!)} | readonly ${arrayOf(schema.items!)}`
        : typeOf(schema);
    return `${comment(description)}${name}${required ? '' : '?'}: ${type}${required ? '' : ' | undefined'};`;
  });
  return `${place}: {\n${indented(fields.join('\n'))}\n};`;
}

function resultType({ responses }: Operation): string {
  const success = Object.entries(responses).find(([status]) => status.startsWith('2'));
  const content = success?.[1].content;
  return content === undefined ? 'undefined' : typeOf(schemaIn(content));
}

/** All media types of a body have the same schema. */
function schemaIn(content: Content): Schema {
  return Object.values(content)[0]!.schema;
}

function typeOf(schema: Schema): string {
  return schema.nullable ? `${plainTypeOf(schema)} | null` : plainTypeOf(schema);
}

function plainTypeOf(schema: Schema): string {
  const { $ref, type, items } = schema;
  const members = schema.oneOf ?? schema.anyOf;
  if ($ref !== undefined) return typeName(nameIn($ref));
  if (members !== undefined) return members.map(typeOf).join(' | ');
  if (schema.enum?.join() === errorCodes) return 'ErrorCode';
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

function nameIn(reference: string): string {
  return reference.split('/').at(-1)!;
}

/** The name `Error` would hide the class of the language. */
function typeName(name: string): string {
  return name === 'Error' ? 'ErrorBody' : name;
}

function arrayOf(items: Schema): string {
  const type = typeOf(items);
  return type.includes(' ') ? `(${type})[]` : `${type}[]`;
}

function objectType({ properties, required = [] }: Schema): string {
  if (properties === undefined) return 'Record<string, unknown>';
  const fields = Object.entries(properties).map(
    ([name, schema]) =>
      `${comment(schema.description)}${name}${required.includes(name) ? '' : '?'}: ${typeOf(schema)};`,
  );
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

const contract: Contract = parse(readFileSync(join(root, 'openapi.yaml'), 'utf8'));
const errorCodes = Object.keys(contract['x-error-codes']).join();
for (const [name, text] of [
  ['contract.ts', typesOf(contract)],
  ['resources/lists.ts', listsOf(contract)],
] as const) {
  const file = join(root, 'sdk/src', name);
  if (!process.argv.includes('--check')) writeFileSync(file, text);
  else if (!existsSync(file) || text !== readFileSync(file, 'utf8')) {
    process.stderr.write(`sdk/src/${name} is out of date: run \`npm run openapi\`\n`);
    process.exitCode = 1;
  }
}
