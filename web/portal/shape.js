// @ts-check
/**
 * The shape of a body, field by field.
 *
 * @typedef {import('./types.d.ts').Immutable} Immutable
 * @typedef {import('./types.d.ts').Schema} Schema
 * @typedef {import('./types.d.ts').ViewerSystem} ViewerSystem
 */

/** Replaces the viewer's trees, which hide the fields until a reader opens them. @param {ViewerSystem} system */
export function shapes({ React, getComponent }) {
  const h = React.createElement;

  /** @param {{ schema: Schema }} props */
  const Fields = ({ schema }) => {
    const { properties, required = [] } = schema.items ?? schema;
    if (!properties) return null;
    return h(
      'table',
      { className: 'shape' },
      h(
        'tbody',
        null,
        Object.entries(properties).map(([name, field]) =>
          h(
            'tr',
            { key: name, className: 'property-row' },
            h('td', null, name),
            h('td', null, h(Field, { field, required: required.includes(name) })),
          ),
        ),
      ),
    );
  };

  /** @param {{ field: Schema, required: boolean }} props */
  const Field = ({ field, required }) => {
    const Markdown = getComponent('Markdown', true);
    return h(
      React.Fragment,
      null,
      h('span', { className: 'type' }, typeOf(field)),
      required && h('span', { className: 'required' }, ' required'),
      h('span', { className: 'rules' }, rulesOf(field).join(', ')),
      field.description && h(Markdown, { source: field.description }),
      h(Fields, { schema: field }),
    );
  };

  /** @param {{ schema: Immutable }} props */
  const ModelWrapper = ({ schema }) => {
    /** @type {Schema} */
    const whole = schema.toJS();
    const union = [whole, whole.items].find(isUnion);
    if (union) {
      return h(
        React.Fragment,
        null,
        h('p', { className: 'type' }, union === whole ? 'one of' : 'array of'),
        union.oneOf.map(member => {
          const types = (member.properties[union.discriminator.propertyName]?.enum ?? []).join(', ');
          return h(
            'details',
            { key: types, className: 'member' },
            h('summary', { className: 'type' }, types),
            h(Fields, { schema: member }),
          );
        }),
      );
    }
    const alternatives = whole.anyOf ?? [whole];
    return alternatives.map((alternative, i) =>
      h(
        React.Fragment,
        // Alternatives have no name, and their order does not change.
        { key: i },
        i > 0 && h('p', { className: 'type' }, 'or'),
        h(
          'p',
          { className: 'type' },
          typeOf(alternative),
          h('span', null, ` ${rulesOf(alternative).join(', ')}`),
        ),
        h(Fields, { schema: alternative }),
      ),
    );
  };

  return { components: { ModelWrapper } };
}

/** @param {Schema | undefined} schema @returns {schema is import('./types.d.ts').Union} */
function isUnion(schema) {
  return schema !== undefined && 'oneOf' in schema;
}

/**
 * @param {Schema} schema
 * @returns {string}
 */
function typeOf({ type = 'any', format, items, nullable }) {
  const name = items ? `array of ${typeOf(items)}` : format ? `${type} (${format})` : type;
  return nullable ? `${name} or null` : name;
}

/** @param {Schema} schema */
function rulesOf(schema) {
  const { minimum, maximum, minLength, maxLength, minItems, maxItems, pattern, default: fallback } = schema;
  const values = schema.enum ?? schema.items?.enum;
  const rules = [];
  if (values) rules.push(values.map(value => JSON.stringify(value)).join(' | '));
  const bounds = range(minimum, maximum);
  if (bounds) rules.push(bounds);
  const length = range(minLength, maxLength);
  if (length) rules.push(`${length} characters`);
  const count = range(minItems, maxItems);
  if (count) rules.push(`${count} items`);
  if (pattern) rules.push(`pattern ${pattern}`);
  if (fallback !== undefined) rules.push(`default ${JSON.stringify(fallback)}`);
  if (schema.readOnly) rules.push('read-only');
  return rules;
}

/** @param {number | undefined} least @param {number | undefined} most */
function range(least, most) {
  if (least === undefined && most === undefined) return '';
  if (most === undefined) return `at least ${least}`;
  if (least === undefined) return `at most ${most}`;
  return `${least}–${most.toLocaleString('en')}`;
}
