import { grouped } from '../kit/quantities.ts';
import type { ContractView, Reference, Schema } from './contract.ts';
import { slugOf } from './urls.ts';

/** A field of a body as pages show it. */
export interface Field {
  name: string;
  /** The ID in its page: the path to the field, such as `body.quotas.perMinute`. */
  anchor: string;
  type: string;
  isRequired: boolean;
  /** Limits, allowed values and the default, each as Markdown. */
  rules: readonly string[];
  description: string;
  /** What the value consists of; one shape for each alternative. */
  shapes: readonly Shape[];
}

/** The fields of an object. */
export interface Shape {
  /** What distinguishes the shape from the others; empty if it is the only one. */
  name: string;
  fields: readonly Field[];
}

/**
 * The shapes of a value: none for a simple value, several for a union. Those of a list are those of its items. The anchors of their
 * fields begin with `anchor`.
 */
export function shapesOf(view: ContractView, part: Schema | Reference, anchor = ''): Shape[] {
  const schema = view.schema(part);
  if (schema.items) return shapesOf(view, schema.items, anchor);
  const alternatives = schema.oneOf ?? schema.anyOf;
  if (!alternatives) return schema.properties ? [{ name: '', fields: fieldsOf(view, schema, anchor) }] : [];
  return alternatives.flatMap(alternative => {
    // The alternatives of an alternative have names of their own.
    if (view.schema(alternative).oneOf) return shapesOf(view, alternative, anchor);
    const name = nameOf(view, schema, alternative as Reference);
    const shapes = shapesOf(view, alternative, `${anchor}.${slugOf(name)}`);
    return shapes.map(shape => ({ ...shape, name }));
  });
}

function fieldsOf(view: ContractView, object: Schema, parent: string): Field[] {
  const { properties = {}, required = [] } = object;
  return Object.entries(properties).map(([name, part]) => {
    const schema = view.schema(part);
    const anchor = `${parent}.${name}`;
    return {
      name,
      anchor,
      type: typeOf(view, schema),
      isRequired: required.includes(name),
      rules: rulesOf(view, schema),
      description: schema.description ?? '',
      shapes: shapesOf(view, part, anchor),
    };
  });
}

/** The name of an alternative: the values of the field that distinguishes it, or the name of its schema. */
function nameOf(view: ContractView, schema: Schema, alternative: Reference): string {
  const property = schema.discriminator?.propertyName;
  const distinguishing = property && view.schema(alternative).properties?.[property];
  if (distinguishing) return (view.schema(distinguishing).enum ?? []).join(', ');
  return alternative.$ref.replace(/^.*\//, '');
}

/** The type in words: `integer (int64) or null`, `array of string`. */
export function typeOf(view: ContractView, part: Schema | Reference): string {
  const schema = view.schema(part);
  const { type, format, items, nullable, oneOf, anyOf } = schema;
  let name = type ?? (oneOf || anyOf ? 'object' : 'any value');
  if (items) name = `array of ${typeOf(view, items)}`;
  else if (format) name = `${name} (${format})`;
  return nullable ? `${name} or null` : name;
}

/** The limits of a value, its allowed values and its default, each as Markdown. */
export function rulesOf(view: ContractView, part: Schema | Reference): string[] {
  const schema = view.schema(part);
  const { minimum, maximum, minLength, maxLength, minItems, maxItems, pattern } = schema;
  const values = schema.enum ?? (schema.items && view.schema(schema.items).enum);
  const known = schema['x-extensible-enum'];
  return [
    values && listed(values),
    known && `${listed(known)}; later releases may add values`,
    range(minimum, maximum),
    range(minLength, maxLength, ' characters'),
    range(minItems, maxItems, ' items'),
    pattern && `pattern \`${pattern}\``,
    schema.default !== undefined && `default \`${JSON.stringify(schema.default)}\``,
    schema.readOnly && 'read-only',
  ].flatMap(rule => rule || []);
}

/** The longest pattern that readers see at once, in characters. */
const SHORT_PATTERN = 60;

/** Whether a rule is a pattern that would hide the other rules. */
export function isLongPattern(rule: string): boolean {
  return rule.startsWith('pattern') && rule.length > SHORT_PATTERN;
}

function listed(values: readonly unknown[]): string {
  return values.map(value => `\`${value}\``).join(', ');
}

function range(least: number | undefined, most: number | undefined, unit = ''): string {
  if (least === undefined && most === undefined) return '';
  if (most === undefined) return `at least ${grouped(least!)}${unit}`;
  if (least === undefined) return `at most ${grouped(most)}${unit}`;
  return `${least === most ? '' : `${grouped(least)}–`}${grouped(most)}${unit}`;
}
