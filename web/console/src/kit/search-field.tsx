import { useEffect, useLayoutEffect, useRef, useState } from 'react';
import { Icon } from './icon.tsx';

/** How long the user may pause while typing before the search is sent, in milliseconds. */
export const TYPING_PAUSE = 150;

interface SearchFieldProps {
  label: string;
  value: string | undefined;
  /** Is called with `undefined` when the field is empty. */
  onChange: (value: string | undefined) => void;
}

/** Searches while the user types. */
export function SearchField({ label, value = '', onChange }: SearchFieldProps) {
  const [typed, setTyped] = useState(value);
  /** What was sent, and has not come back as the value yet. */
  const sent = useRef<string[]>([]);
  const timer = useRef<number>(undefined);
  // Before the user can type: otherwise it would replace what was typed since the field appeared.
  useLayoutEffect(() => {
    const at = sent.current.indexOf(value);
    sent.current = sent.current.slice(at + 1);
    // The field has what the user has typed since, and spaces at its end, unless the value comes from elsewhere.
    if (at < 0) setTyped(value);
  }, [value]);
  function send(): void {
    timer.current = undefined;
    sent.current.push(typed.trim());
    onChange(typed.trim() || undefined);
  }
  // biome-ignore lint/correctness/useExhaustiveDependencies: only typing starts the pause
  useEffect(() => {
    if (typed.trim() === value) return;
    timer.current = window.setTimeout(send, TYPING_PAUSE);
    return () => {
      clearTimeout(timer.current);
      timer.current = undefined;
    };
  }, [typed]);
  /** Sends before what the user does next: a link may lead to another page, from which a later search would pull the user back. */
  function sendNow(): void {
    if (timer.current === undefined) return;
    clearTimeout(timer.current);
    send();
  }
  return (
    <label className="search">
      <Icon name="search" />
      <input
        type="search"
        aria-label={label}
        placeholder={label}
        value={typed}
        spellCheck={false}
        onChange={event => setTyped(event.target.value)}
        onBlur={sendNow}
        onKeyDown={event => {
          if (event.key === 'Enter') sendNow();
        }}
      />
    </label>
  );
}
