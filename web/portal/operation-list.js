// @ts-check
/**
 * The list of operations. The service renders it first, so that the page shows it while the viewer is loading; then the
 * viewer renders it again. Each passes its own function that creates an element: `element` of `kit/html.ts`, or React's.
 *
 * @typedef {import('./types.d.ts').Contract} Contract
 * @typedef {import('./types.d.ts').ListedOperation} ListedOperation
 */

/**
 * @template Element
 * @typedef {(name: string, attributes: Record<string, string> | null, ...children: Child<Element>[]) => Element} Create
 */

/**
 * @template Element
 * @typedef {Element | string | false | undefined | readonly Child<Element>[]} Child
 */

/**
 * The part of a URL that names an operation inside the reference: `#/API%20keys/listApiKeys`.
 *
 * @param {string} tag
 * @param {string} operationId
 */
export function fragmentOf(tag, operationId) {
  return `#/${encodeURIComponent(tag)}/${encodeURIComponent(operationId)}`;
}

/**
 * The ID that the viewer gives to an operation, and to a tag.
 *
 * @param {string} tag
 * @param {string} operationId
 */
export function elementId(tag, operationId) {
  return `operations-${tag}-${operationId}`.replaceAll(' ', '_');
}

/**
 * The operations under their tags, and the tags under their groups: `x-tagGroups` of the document. A group contains only
 * tags. The list omits a tag for which `linesOf` returns an empty array.
 *
 * @template Element
 * @param {Create<Element>} h
 * @param {Contract} contract
 * @param {(tag: string) => readonly Element[]} linesOf
 * @returns {Child<Element>[]}
 */
export function groupedOperations(h, { tags, 'x-tagGroups': groups }, linesOf) {
  const descriptions = new Map(tags.map(({ name, description }) => [name, description]));
  return groups.map(group => {
    const sections = group.tags.map(tag => {
      const lines = linesOf(tag);
      return (
        lines.length > 0 &&
        h(
          'section',
          { key: tag, className: 'tag', 'aria-label': tag },
          h('h3', null, tag),
          h('p', null, descriptions.get(tag)),
          lines,
        )
      );
    });
    return (
      sections.some(Boolean) &&
      h(
        'section',
        { key: group.name, className: 'group', 'aria-label': group.name },
        h('h2', null, group.name),
        h('p', null, descriptions.get(group.name)),
        sections,
      )
    );
  });
}

/**
 * The content of an operation's line.
 *
 * @template Element
 * @param {Create<Element>} h
 * @param {ListedOperation} listed
 * @returns {Child<Element>[]}
 */
export function operationLine(h, { method, path, operation }) {
  return [
    methodLabel(h, method),
    h('span', { key: 'path', className: 'opblock-summary-path', 'data-path': path }, breakable(h, path)),
    h('span', { key: 'summary', className: 'opblock-summary-description' }, operation.summary),
    operation.deprecated && deprecatedBadge(h, `deprecated, ends ${operation['x-deprecated-sunset']}`),
    stabilityBadge(h, operation),
  ];
}

/**
 * A path that can wrap before each slash.
 *
 * @template Element
 * @param {Create<Element>} h
 * @param {string} path
 * @returns {Child<Element>[]}
 */
function breakable(h, path) {
  return path.split(/(?=\/)/).flatMap((part, i) => (i > 0 ? [h('wbr', { key: String(i) }), part] : [part]));
}

/**
 * @template Element
 * @param {Create<Element>} h
 * @param {string} method
 */
export function methodLabel(h, method) {
  return h('span', { key: 'method', className: 'method', 'data-method': method }, method.toUpperCase());
}

/**
 * @template Element
 * @param {Create<Element>} h
 * @param {string} text
 */
export function deprecatedBadge(h, text) {
  return h('span', { key: 'deprecated', className: 'badge', 'data-deprecated': '' }, text);
}

/**
 * @template Element
 * @param {Create<Element>} h
 * @param {ListedOperation['operation']} operation
 */
export function stabilityBadge(h, { 'x-stability': stability }) {
  return (
    stability !== undefined &&
    h('span', { key: 'stability', className: 'badge', 'data-stability': stability }, stability)
  );
}
