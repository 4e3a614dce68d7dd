import { type KeyboardEvent, type ReactNode, useId, useLayoutEffect, useRef } from 'react';
import { Icon, type IconName } from './icon.tsx';

interface MenuItem {
  /** Identifies the item in a menu whose items change while it is open: the focus stays with the item. */
  id?: number;
  label: ReactNode;
  icon?: IconName;
  /** Why it is not possible. The item is still shown, so that the user can learn the reason. */
  reason?: string | undefined;
  /** Set for the choices of one value, whether this is the present one. Other items are actions. */
  isCurrent?: boolean;
  onChoose: () => void;
}

interface MenuProps {
  /** What the menu is for. */
  label: string;
  /** The content of the button that opens it. */
  children: ReactNode;
  className?: string;
  items: readonly MenuItem[];
  onOpen?: () => void;
}

const focusable = '[role^="menuitem"]';

/** A menu button (WAI-ARIA APG). The browser places and closes its popover. */
export function Menu({ label, children, className = '', items, onOpen }: MenuProps) {
  const id = useId();
  const popover = useRef<HTMLDivElement>(null);
  const choices = () => [...popover.current!.querySelectorAll<HTMLElement>(focusable)];

  // The item with the focus can disappear while the menu is open, such as an action that can no longer be undone.
  useLayoutEffect(() => {
    if (document.activeElement === document.body && popover.current?.matches(':popover-open'))
      popover.current.focus();
  });

  function onKey(event: KeyboardEvent): void {
    const all = choices();
    const at = all.indexOf(document.activeElement as HTMLElement);
    const isTyped = event.key.length === 1 && !event.ctrlKey && !event.metaKey && !event.altKey;
    const typed = isTyped ? event.key.toLowerCase() : undefined;
    const next =
      event.key === 'ArrowDown'
        ? all[(at + 1) % all.length]
        : event.key === 'ArrowUp'
          ? all.at(Math.max(at, 0) - 1)
          : event.key === 'Home'
            ? all[0]
            : event.key === 'End'
              ? all.at(-1)
              : all.find(choice => typed && choice.textContent?.toLowerCase().startsWith(typed));
    if (event.key === 'Tab') popover.current?.hidePopover();
    if (!next) return;
    event.preventDefault();
    // Otherwise a row of a table would move its own focus.
    event.stopPropagation();
    next.focus();
  }

  return (
    <>
      <button
        type="button"
        className={`menu-button ${className}`}
        popoverTarget={id}
        aria-haspopup="menu"
        aria-label={label}
        onClick={event => event.stopPropagation()}
      >
        {children}
      </button>
      <div
        ref={popover}
        id={id}
        popover="auto"
        role="menu"
        tabIndex={-1}
        aria-label={label}
        className="menu"
        onKeyDown={onKey}
        // A click in the menu must not open the row around it.
        onClick={event => event.stopPropagation()}
        onBeforeToggle={event => {
          if (event.newState !== 'open') return;
          onOpen?.();
          const all = choices();
          const first = all.find(choice => choice.ariaChecked === 'true') ?? all[0];
          // The browser focuses this item as it opens the popover. With the attribute from the start, the item would want the focus of the page.
          for (const choice of all) choice.toggleAttribute('autofocus', choice === first);
        }}
      >
        {items.map(({ id, label, icon, reason, isCurrent, onChoose }, i) => (
          // biome-ignore lint/a11y/useAriaPropsSupportedByRole: a menuitem does not get the attribute
          <button
            key={id ?? i}
            type="button"
            role={isCurrent === undefined ? 'menuitem' : 'menuitemradio'}
            aria-checked={isCurrent}
            aria-disabled={reason !== undefined}
            tabIndex={-1}
            className="menu-item"
            onClick={() => {
              if (reason !== undefined) return;
              popover.current?.hidePopover();
              if (!isCurrent) onChoose();
            }}
          >
            {icon ? (
              <span className="menu-label" data-icon={icon}>
                <Icon name={icon} />
                {label}
              </span>
            ) : (
              label
            )}
            {reason && <small>{reason}</small>}
          </button>
        ))}
      </div>
    </>
  );
}
