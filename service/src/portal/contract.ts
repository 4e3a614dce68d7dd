/** The parts of the OpenAPI document that the portal's pages are made from. */
export interface ContractDocument {
  info: { title: string; version: string; description: string };
  tags: readonly { name: string; description: string }[];
  'x-tagGroups': readonly { name: string; tags: readonly string[] }[];
  paths: Readonly<Record<string, Readonly<Record<string, ContractOperation>>>>;
  components: {
    parameters: Readonly<
      Record<'IdempotencyKey' | 'IfMatch' | 'IfNoneMatch', { name: string; description: string }>
    >;
    headers: Readonly<Record<string, { description: string }>>;
    'x-error-codes': Readonly<Record<string, { status: number; description: string }>>;
  };
}

export interface ContractOperation {
  operationId: string;
  tags: readonly [string, ...string[]];
  summary: string;
  deprecated?: boolean;
  'x-deprecated-since'?: string;
  'x-deprecated-sunset'?: string;
  'x-deprecated-successor'?: string;
  'x-stability'?: string;
}

export interface ListedOperation extends ContractOperation {
  tag: string;
  method: string;
  path: string;
}

/** Every operation, in the order of the document. */
export function operationsOf({ paths }: ContractDocument): ListedOperation[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      ...operation,
      tag: operation.tags[0],
      method,
      path,
    })),
  );
}
