import { type ComponentProps, type KeyboardEvent, type ReactNode, useEffect, useId, useState } from 'react';
import { TYPING_PAUSE } from './search-field.tsx';

/** Identifies a suggestion, such as the ID of an animal. */
type SuggestionId = number | string;

export interface Suggestion<Id extends SuggestionId = number> {
  id: Id;
  name: string;
  note?: ReactNode;
  /** Why it cannot be chosen. It is still shown, so that the user can learn the reason. */
  reason?: string | undefined;
}

interface ComboBoxProps<Id extends SuggestionId>
  extends Omit<ComponentProps<'input'>, 'value' | 'onChange' | 'ref'> {
  /** The name of what is chosen; empty if nothing is. */
  value: string;
  suggestions: readonly Suggestion<Id>[];
  /** The text whose suggestions are shown. With it, Enter chooses the first one that can be chosen, as soon as they are there. */
  found?: string | undefined;
  /** What is shown without any suggestion. */
  empty: string;
  /** Is called with what the user typed, after a pause or Enter. */
  onSearch: (text: string) => void;
  /** Is called with `undefined` when the user empties the field. */
  onChoose: (id: Id | undefined) => void;
}

/**
 * A field that suggests while the user types: an editable combobox with a list (WAI-ARIA APG). The focus stays in the field. What
 * was typed without a choice is dropped when the field loses the focus, because it would look like a choice.
 */
export function ComboBox<Id extends SuggestionId>({
  value,
  suggestions,
  found,
  empty,
  onSearch,
  onChoose,
  ...input
}: ComboBoxProps<Id>) {
  const id = useId();
  const [typed, setTyped] = useState<string>();
  const [isOpen, setOpen] = useState(false);
  const [active, setActive] = useState<Id>();
  /** Whether Enter was pressed before the suggestions of the text were there. */
  const [isEntered, setEntered] = useState(false);
  const searched = typed?.trim() ?? '';
  const isFound = isEntered && found === searched;
  const first = suggestions.findIndex(({ reason }) => reason === undefined);
  /** Where the suggestion is that Enter chooses. */
  const at =
    active === undefined && searched !== '' && found === searched
      ? first
      : suggestions.findIndex(({ id }) => id === active);

  // biome-ignore lint/correctness/useExhaustiveDependencies: only typing and opening start the pause
  useEffect(() => {
    if (!isOpen) return;
    const timer = setTimeout(() => onSearch(searched), TYPING_PAUSE);
    return () => clearTimeout(timer);
  }, [searched, isOpen]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: only the suggestions of the text are waited for
  useEffect(() => {
    if (!isFound) return;
    setEntered(false);
    const chosen = suggestions[first];
    if (chosen) choose(chosen);
    else if (!document.activeElement?.matches('[role="combobox"]')) close();
  }, [isFound]);

  function close(): void {
    setOpen(false);
    setEntered(false);
    setTyped(undefined);
    setActive(undefined);
  }

  function choose({ id, reason }: Suggestion<Id>): void {
    if (reason !== undefined) return;
    onChoose(id);
    close();
  }

  function moveTo(suggestion: Suggestion<Id> | undefined): void {
    setOpen(true);
    setActive(suggestion?.id);
    if (suggestion) document.getElementById(`${id}-${suggestion.id}`)?.scrollIntoView({ block: 'nearest' });
  }

  function onKey(event: KeyboardEvent): void {
    // The key belongs to the input method.
    if (event.nativeEvent.isComposing) return;
    if (event.key === 'ArrowDown') moveTo(isOpen ? suggestions[(at + 1) % suggestions.length] : undefined);
    else if (event.key === 'ArrowUp') moveTo(isOpen ? suggestions.at(Math.max(at, 0) - 1) : undefined);
    else if (!isOpen) return;
    else if (event.key === 'Escape') close();
    else if (event.key === 'Enter') {
      const chosen = suggestions[at];
      if (chosen) choose(chosen);
      else if (searched !== '') {
        setEntered(true);
        onSearch(searched);
      }
    } else return;
    // Otherwise Enter would send the form, and Escape would close the panel.
    event.preventDefault();
    event.stopPropagation();
  }

  return (
    <div className="combo">
      <input
        {...input}
        // The browser does not send the form with the earlier choice while the next one is still to come.
        ref={field => field?.setCustomValidity(isEntered ? 'Searching …' : '')}
        role="combobox"
        aria-expanded={isOpen}
        aria-controls={`${id}-list`}
        aria-autocomplete="list"
        aria-activedescendant={isOpen && at >= 0 ? `${id}-${suggestions[at]!.id}` : undefined}
        autoComplete="off"
        spellCheck={false}
        value={typed ?? value}
        onChange={event => {
          const text = event.target.value;
          setTyped(text);
          setActive(undefined);
          setEntered(false);
          setOpen(true);
          if (text === '' && value !== '') onChoose(undefined);
        }}
        onClick={() => setOpen(true)}
        onKeyDown={onKey}
        // The field keeps the focus while another window has it. After Enter the choice is still to come.
        onBlur={event => event.target !== document.activeElement && !isEntered && close()}
      />
      <div
        id={`${id}-list`}
        role="listbox"
        aria-label="Suggestions"
        className="combo-list"
        hidden={!isOpen}
        // The focus stays in the field.
        onMouseDown={event => event.preventDefault()}
      >
        {suggestions.map((suggestion, i) => (
          <button
            key={suggestion.id}
            type="button"
            id={`${id}-${suggestion.id}`}
            role="option"
            aria-selected={i === at}
            aria-disabled={suggestion.reason !== undefined}
            tabIndex={-1}
            className="menu-item"
            onClick={() => choose(suggestion)}
          >
            {suggestion.name}
            {suggestion.note}
            {suggestion.reason && <small>{suggestion.reason}</small>}
          </button>
        ))}
      </div>
      <p role="status" className={isOpen && suggestions.length === 0 ? 'combo-empty' : 'visually-hidden'}>
        {isOpen &&
          (suggestions.length === 0
            ? empty
            : `${suggestions.length} ${suggestions.length === 1 ? 'suggestion' : 'suggestions'}`)}
      </p>
    </div>
  );
}
