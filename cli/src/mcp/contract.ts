import type { Client } from '@petstore/client';
import { pathOf, send, urlOf } from '@petstore/client/raw';
import { UsageError } from '../failure.ts';

/** A part of the contract whose form does not matter here. */
export type Json = Readonly<Record<string, unknown>>;

interface Parameter {
  name: string;
  in: string;
  required?: boolean;
  description?: string;
  schema: Json;
}

interface Content {
  content?: Readonly<Record<string, { schema: Json }>>;
}

export interface Operation {
  /** `GET /pets/{petId}` */
  name: string;
  method: string;
  path: string;
  summary: string;
  description: string;
  tags: readonly string[];
  deprecated: boolean;
  /** Those of its path and its query. */
  parameters: readonly Parameter[];
  requestBody: (Content & { required?: boolean }) | undefined;
  responses: Readonly<Record<string, Content & { description?: string }>>;
}

/** The operations of a service, as its contract describes them. */
export interface Contract {
  operations: readonly Operation[];
  /** Returns what a reference such as `#/components/schemas/Pet` means. */
  resolve: (reference: string) => Json;
}

interface Document {
  paths: Readonly<Record<string, Readonly<Record<string, DocumentedOperation>>>>;
}

interface DocumentedOperation extends Omit<Operation, 'name' | 'method' | 'path' | 'parameters'> {
  parameters?: readonly (Parameter | Reference)[];
}

interface Reference {
  $ref: string;
}

/** Reads the contract of the service, which uses no quota. */
export async function readContract(client: Client): Promise<Contract> {
  const { text } = await send(client, { method: 'GET', path: '/openapi.json' });
  const document: Document = JSON.parse(text);
  const resolve = (reference: string) =>
    reference
      .slice('#/'.length)
      .split('/')
      .reduce<Json>((part, name) => part[name] as Json, document as unknown as Json);
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): Operation => {
      const { summary, description = '', tags, deprecated = false, requestBody } = operation;
      return {
        name: `${method.toUpperCase()} ${path}`,
        method: method.toUpperCase(),
        path,
        summary,
        description,
        tags,
        deprecated,
        requestBody,
        parameters: (operation.parameters ?? [])
          .map(parameter =>
            '$ref' in parameter ? (resolve(parameter.$ref) as unknown as Parameter) : parameter,
          )
          .filter(({ in: place }) => place === 'path' || place === 'query'),
        responses: operation.responses,
      };
    }),
  );
  return { operations, resolve };
}

/** A request, and the operation that it is of. */
export interface Target {
  operation: Operation;
  url: URL;
}

/** Finds the operation of a path with its values, such as `/pets/4?limit=3`. Throws a `UsageError` if there is none. */
export function findOperation(
  { operations }: Contract,
  client: Client,
  method: string,
  path: string,
): Target {
  const url = urlOf(client, path);
  const parts = pathOf(client, url).split('/');
  const fitting = operations.filter(operation => fits(operation.path.split('/'), parts));
  // A path without a parameter is meant literally: `/events/stream`.
  const exact = fitting.filter(operation => !operation.path.includes('{'));
  const found = (exact.length > 0 ? exact : fitting).find(operation => operation.method === method);
  if (found) return { operation: found, url };
  const others = fitting.map(({ name }) => name).join(', ');
  throw new UsageError(
    others === ''
      ? `No operation has the path ${JSON.stringify(path)}: find the right one with the tool search`
      : `${method} ${path} is not an operation. This path has: ${others}`,
  );
}

const fits = (template: readonly string[], parts: readonly string[]) =>
  template.length === parts.length &&
  template.every((name, i) => (name.startsWith('{') ? parts[i] !== '' : name === parts[i]));

/** The media type of a success; `undefined` without a body. */
export function mediaTypeOf({ responses }: Operation): string | undefined {
  const [, success] = Object.entries(responses).find(([status]) => status.startsWith('2')) ?? [];
  return Object.keys(success?.content ?? {})[0];
}
