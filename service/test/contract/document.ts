import { readContract } from '../support/contract-file.ts';

interface Reference {
  $ref: string;
}

export interface SchemaObject {
  $ref?: string;
  type?: string;
  format?: string;
  enum?: string[];
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  pattern?: string;
  maxItems?: number;
  nullable?: boolean;
  readOnly?: boolean;
  items?: SchemaObject;
  properties?: Record<string, SchemaObject>;
  required?: string[];
  additionalProperties?: boolean;
  example?: unknown;
  anyOf?: SchemaObject[];
}

interface HeaderObject {
  required?: boolean;
  schema: SchemaObject;
  example?: unknown;
}

interface MediaObject {
  schema: SchemaObject;
  example?: unknown;
  examples?: Record<string, { value: unknown }>;
}

export interface ResponseObject {
  description: string;
  headers: Record<string, HeaderObject | Reference>;
  content?: Record<string, MediaObject>;
  links?: Record<string, { operationId: string; parameters: Record<string, string> }>;
}

export interface ParameterObject {
  name: string;
  in: string;
  schema: SchemaObject;
  example: unknown;
}

export interface OperationObject {
  operationId: string;
  tags: string[];
  summary: string;
  description: string;
  security: object[];
  deprecated?: boolean;
  'x-required-scopes'?: string[];
  'x-required-scopes-any-of'?: string[];
  'x-hideTryItPanel'?: boolean;
  'x-stability'?: string;
  'x-deprecated-sunset'?: string;
  'x-deprecated-successor'?: string;
  parameters?: (ParameterObject | Reference)[];
  requestBody?: { content: Record<string, MediaObject> };
  responses: Record<string, ResponseObject | Reference>;
}

interface DocumentObject {
  openapi: string;
  info: { version: string };
  tags: { name: string; 'x-parent'?: string }[];
  'x-tagGroups': { name: string; tags: string[] }[];
  paths: Record<string, Record<string, OperationObject>>;
  components: {
    schemas: Record<string, SchemaObject>;
    responses: Record<string, ResponseObject>;
    parameters: Record<string, ParameterObject>;
    headers: Record<string, HeaderObject>;
  };
  'x-error-codes': Record<string, { status: number; description: string }>;
}

/** The parsed `openapi.yaml`, for tests of the document itself. */
export const document = readContract<DocumentObject>();

export const documentedOperations = Object.entries(document.paths).flatMap(([path, operations]) =>
  Object.entries(operations).map(([method, operation]) => ({
    path,
    method: method.toUpperCase(),
    operation,
  })),
);

export type ListedOperation = (typeof documentedOperations)[number];

/** The responses of an operation by status, with references resolved. */
export function responsesOf({ responses }: OperationObject): [status: string, response: ResponseObject][] {
  return Object.entries(responses).map(([status, response]) => [
    status,
    '$ref' in response ? document.components.responses[nameIn(response)]! : response,
  ]);
}

/** The headers of a response by name, with references resolved. */
export function headersOf({ headers }: Pick<ResponseObject, 'headers'>): Record<string, HeaderObject> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, header]) => [
      name,
      '$ref' in header ? document.components.headers[nameIn(header)]! : header,
    ]),
  );
}

function nameIn({ $ref }: Reference): string {
  return $ref.split('/').at(-1)!;
}

/** A schema with its reference resolved. */
export function resolved(schema: SchemaObject): SchemaObject {
  return schema.$ref === undefined ? schema : document.components.schemas[nameIn({ $ref: schema.$ref })]!;
}

/** Whether an operation returns a stream, which does not end by itself. */
export function isStream({ responses }: OperationObject): boolean {
  const success = responses[200];
  return success !== undefined && 'content' in success && 'text/event-stream' in success.content!;
}
