/** Fields in which the user types or chooses with keys. */
const fields = 'input:not([type="checkbox"], [type="radio"], [type="file"]), textarea, select';

/** Whether the keys of an event belong to a field. */
export function isTyping({ target }: Event): boolean {
  return target instanceof Element && target.closest(fields) !== null;
}
