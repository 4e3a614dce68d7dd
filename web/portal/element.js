// @ts-check
/**
 * A new element with its properties and what it contains.
 *
 * @template {keyof HTMLElementTagNameMap} Name
 * @param {Name} name
 * @param {object} properties
 * @param {(Node | string)[]} content
 */
export function element(name, properties = {}, ...content) {
  const created = document.createElement(name);
  Object.assign(created, properties);
  created.append(...content);
  return created;
}
