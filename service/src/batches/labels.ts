import { ApiError } from '../contract/errors.ts';
import type { Schema } from '../contract/schema.ts';
import { shownName } from '../http/quoting.ts';
import { isRecord } from '../kit/objects.ts';

/** The pattern of a label. */
export const LABEL = '^[A-Za-z][A-Za-z0-9_-]{0,63}$';

/** A place in the input of an operation that needs the ID of a labelled resource: a path parameter, or a field of the body. */
export interface Reference {
  in: 'params' | 'body';
  name: string;
  label: string;
}

/** An ID that every schema accepts, for the checks before the ID of a labelled resource is known. */
const SOME_ID = 1;

/** The labels of a batch. Each belongs to the operation that creates the resource. */
export class Labels {
  readonly #owners = new Map<string, number>();

  /** Gives a label to an operation. Throws `invalid_request` if an earlier operation has it. */
  give(label: string, index: number): void {
    const owner = this.#owners.get(label);
    if (owner !== undefined)
      throw invalid(`The label \`${label}\` belongs to operation ${owner}: choose another`);
    this.#owners.set(label, index);
  }

  /** Returns the index of the operation with a label. Throws `invalid_request` if no operation before `index` has it. */
  ownerOf(label: string, index: number): number {
    const owner = this.#owners.get(label);
    if (owner === undefined || owner === index)
      throw invalid(`No earlier operation has the label ${shownName(label)}`);
    return owner;
  }
}

/** Returns the path parameters with an ID instead of each label in braces, and adds the references to `found`. */
export function withoutLabels(
  texts: Readonly<Record<string, string>>,
  found: Reference[],
): Record<string, string> {
  const params: Record<string, string> = { ...texts };
  for (const [name, text] of Object.entries(texts)) {
    if (!text.startsWith('{') || !text.endsWith('}')) continue;
    found.push({ in: 'params', name, label: text.slice(1, -1) });
    params[name] = String(SOME_ID);
  }
  return params;
}

/** Returns a function that finds the references in the ID fields of a body, and adds them to `found`. */
export function labelReader(schema: Schema | undefined): (body: object, found: Reference[]) => void {
  const ids = Object.entries(schema?.properties ?? {}).flatMap(([name, { type, format }]) =>
    type === 'integer' && format === 'int64' ? [name] : [],
  );
  return (body, found) => {
    for (const name of ids) {
      const label = labelIn((body as Readonly<Record<string, unknown>>)[name]);
      if (label !== undefined) found.push({ in: 'body', name, label });
    }
  };
}

/** Runs `read` while the body has an ID instead of each reference. Restores the references, because the batch may be read again. */
export function withSomeIds<T>(body: object | undefined, references: readonly Reference[], read: () => T): T {
  const fields = references.filter(reference => reference.in === 'body');
  if (fields.length === 0) return read();
  const values = body as Record<string, unknown>;
  const sent = fields.map(({ name }) => [name, values[name]]);
  for (const { name } of fields) values[name] = SOME_ID;
  try {
    return read();
  } finally {
    Object.assign(values, Object.fromEntries(sent));
  }
}

/** Returns the label of a reference, `{"$label": "rex"}`; `undefined` for any other value. */
function labelIn(value: unknown): string | undefined {
  if (!isRecord(value) || typeof value.$label !== 'string' || Object.keys(value).length !== 1)
    return undefined;
  return value.$label;
}

export function invalid(message: string): ApiError {
  return new ApiError('invalid_request', message);
}
