import type { Contract, Json, Operation } from './contract.ts';

/** What a program needs neither to write a request nor to read a response. */
const LEFT_OUT = ['example', 'examples', 'pattern', 'format', 'style', 'explode', 'headers', 'discriminator'];

const SCHEMA = '#/components/schemas/';

/** Describes an operation with the shapes that it takes and returns. */
export function describeOperation(contract: Contract, operation: Operation): Json {
  const { name, summary, description, deprecated, parameters, requestBody, responses } = operation;
  const [status, success] = Object.entries(responses).find(([status]) => status.startsWith('2')) ?? [];
  // Those that every operation can return have messages that explain them.
  const errors = Object.entries(responses).filter(
    ([status, response]) => Number(status) >= 400 && !('$ref' in response),
  );
  const described = short({
    operation: name,
    summary,
    description,
    ...(deprecated && { deprecated }),
    parameters,
    ...(requestBody && { body: { required: requestBody.required === true, schema: schemaOf(requestBody) } }),
    returns: { status: Number(status), schema: success && schemaOf(success) },
    errors: Object.fromEntries(errors.map(([status, { description }]) => [status, description])),
  }) as Json;
  const shapes = shapesOf(contract, described);
  return Object.keys(shapes).length > 0 ? { ...described, shapes } : described;
}

/** The schema of a body; all media types have the same. */
function schemaOf({ content = {} }: { content?: Readonly<Record<string, { schema: Json }>> }) {
  return Object.values(content)[0]?.schema;
}

/** Returns the shapes that a description refers to, directly and through others. */
function shapesOf(contract: Contract, described: Json): Record<string, unknown> {
  const shapes: Record<string, unknown> = {};
  const open: unknown[] = [described];
  for (const part of open) {
    if (typeof part !== 'object' || part === null) continue;
    open.push(...Object.values(part));
    const { $ref } = part as { $ref?: unknown };
    if (typeof $ref !== 'string' || Object.hasOwn(shapes, nameOf($ref))) continue;
    const shape = short(contract.resolve($ref));
    shapes[nameOf($ref)] = shape;
    open.push(shape);
  }
  return shapes;
}

const nameOf = (reference: string) => reference.slice(SCHEMA.length);

/** Leaves out what takes much room and says little. Names of fields stay, also `example`. */
function short(value: unknown, areNames = false): unknown {
  if (Array.isArray(value)) return value.map(part => short(part));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(
    ([name, part]) => part !== undefined && (areNames || !(LEFT_OUT.includes(name) || name.startsWith('x-'))),
  );
  return Object.fromEntries(
    entries.map(([name, part]) => [name, short(part, name === 'properties' && !areNames)]),
  );
}
