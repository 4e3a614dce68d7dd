interface ChoicesProps<T> {
  /** What is chosen, for users who do not see the buttons. */
  label: string;
  choices: readonly { value: T; title: string }[];
  /** `undefined` can be a value, or none of the choices. */
  chosen: T | undefined;
  onChoose: (value: T) => void;
}

/** Buttons of which one is pressed, for a choice of few. */
export function Choices<T>({ label, choices, chosen, onChoose }: ChoicesProps<T>) {
  return (
    <fieldset className="choices">
      <legend className="visually-hidden">{label}</legend>
      {choices.map(({ value, title }) => (
        <button key={title} type="button" aria-pressed={value === chosen} onClick={() => onChoose(value)}>
          {title}
        </button>
      ))}
    </fieldset>
  );
}

/** The choices of a filter: any value, or one of those that have names. */
export function anyOr<T extends string>(
  names: Readonly<Record<T, string>>,
  values: readonly T[],
): ChoicesProps<T | undefined>['choices'] {
  return [{ value: undefined, title: 'All' }, ...values.map(value => ({ value, title: names[value] }))];
}
