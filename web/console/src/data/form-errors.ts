/** What the service said about each field, and the rest. */
interface FormErrors {
  fields: Partial<Record<string, string>>;
  general: string | undefined;
  /** The code of the service's error. */
  code?: string | undefined;
}

export const noErrors: FormErrors = { fields: {}, general: undefined };

/** The fields of errors whose messages name no field, by their codes. */
const fieldOfCode: Partial<Record<string, string>> = {
  insufficient_stock: 'quantity',
  stock_limit_exceeded: 'quantity',
  pet_not_available: 'petId',
  order_has_no_pet: 'petId',
};

/**
 * Puts the parts of an error's message next to the fields that they name. The service joins them with `; `, and writes
 * "Field `name` must …".
 */
export function formErrors(error: unknown, known: readonly string[]): FormErrors {
  const message = error instanceof Error ? error.message : String(error);
  const fields: FormErrors['fields'] = {};
  const general: string[] = [];
  const code = error instanceof Error && 'code' in error ? String(error.code) : undefined;
  const about = code === undefined ? undefined : fieldOfCode[code];
  if (about !== undefined && known.includes(about))
    // The form shows which animal it is.
    return { fields: { [about]: message.replace(/^Pet \d+ has/, 'It has') }, general: undefined };
  for (const part of message.split(/; (?=field `)/)) {
    const [, field = '', inner = ''] = /^field `(\w+)([\w.]*)`/i.exec(part) ?? [];
    if (known.includes(field + inner))
      fields[field + inner] = instructionFor(field, part) ?? capitalised(part);
    // A value in a field that has no control of its own: the message says which.
    else if (known.includes(field)) fields[field] = part.replace(/^f/, 'F');
    else general.push(part);
  }
  return { fields, general: general.length > 0 ? general.join('; ') : undefined, ...(code && { code }) };
}

/** What to do with a field that has no value, or no URL: the service states its rule for programs. */
const instructions: Partial<Record<string, string>> = {
  name: 'Enter a name',
  description: 'Enter a description',
  note: 'Enter a note',
  url: 'Enter a whole address, such as https://shop.example/events',
  categoryId: 'Choose a category',
  petId: 'Choose an animal',
};

function instructionFor(field: string, part: string): string | undefined {
  if (/` must be an integer/.test(part)) return 'Enter a whole number';
  return /` (is required$|must (not be empty|not be blank|be a URL),)/.test(part)
    ? instructions[field]
    : undefined;
}

/** Without the word and the quotes, because the message is at the field: "Must be at least 1". */
function capitalised(part: string): string {
  const text = part.replace(/^field `[\w.]+` /i, '');
  return text.charAt(0).toUpperCase() + text.slice(1);
}
