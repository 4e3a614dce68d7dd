/** Fields in which the user types or chooses with keys. */
const fields = 'input:not([type="checkbox"], [type="radio"], [type="file"]), textarea, select';

/** Filters without an undo of their own. */
const filters = 'search :is(select, [type="date"], [type="datetime-local"])';

/** Whether the keys of an event belong to a field. */
export function isTyping({ target }: Event): boolean {
  return target instanceof Element && target.closest(fields) !== null;
}

/** Whether Ctrl+Z belongs to a field: in a form the user means what was just typed or chosen there, and not an action before it. */
export function hasUndo(event: Event): boolean {
  const { target } = event;
  if (!(target instanceof Element) || target.matches(filters)) return false;
  return isTyping(event) || target.matches('form input');
}

/**
 * The letter of a shortcut: with Caps Lock the small one, and with a layout whose letters are not Latin the one that other layouts have
 * in its place.
 */
export function letterOf({ key, code, shiftKey }: Pick<KeyboardEvent, 'key' | 'code' | 'shiftKey'>): string {
  const isForeign = /^(?!\p{Script=Latin})[\p{L}\p{M}]$/u.test(key);
  const letter = isForeign && code.startsWith('Key') ? code.slice('Key'.length) : key;
  return shiftKey ? letter : letter.toLowerCase();
}
