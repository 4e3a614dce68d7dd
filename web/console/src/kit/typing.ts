/** Fields in which the user types or chooses with keys. */
const fields = 'input:not([type="checkbox"], [type="radio"], [type="file"]), textarea, select';

/** Those without an undo of their own. */
const withoutUndo = 'input:is([type="date"], [type="datetime-local"]), select';

/** Whether the keys of an event belong to a field. */
export function isTyping({ target }: Event): boolean {
  return target instanceof Element && target.closest(fields) !== null;
}

/** Whether Ctrl+Z belongs to a field. */
export function hasUndo(event: Event): boolean {
  return isTyping(event) && !(event.target as Element).matches(withoutUndo);
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
