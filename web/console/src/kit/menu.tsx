import { type KeyboardEvent, type ReactNode, useId, useRef } from 'react';
import { Icon, type IconName } from './icon.tsx';

export interface MenuItem {
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
  const first = Math.max(
    0,
    items.findIndex(({ isCurrent }) => isCurrent),
  );

  function onKey(event: KeyboardEvent): void {
    const all = choices();
    const at = all.indexOf(document.activeElement as HTMLElement);
    const typed = event.key.length === 1 ? event.key.toLowerCase() : undefined;
    const next =
      event.key === 'ArrowDown'
        ? all[(at + 1) % all.length]
        : event.key === 'ArrowUp'
          ? all.at(at - 1)
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
        aria-label={label}
        className="menu"
        onKeyDown={onKey}
        // A click in the menu must not open the row around it.
        onClick={event => event.stopPropagation()}
        onToggle={event => {
          if (event.newState === 'open') onOpen?.();
        }}
      >
        {items.map(({ label, icon, reason, isCurrent, onChoose }, i) => (
          // biome-ignore lint/a11y/useAriaPropsSupportedByRole: a menuitem does not get the attribute
          <button
            // biome-ignore lint/suspicious/noArrayIndexKey: the items of a menu do not change their order
            key={i}
            // The browser moves the focus as it opens the popover. React does so only for a new element.
            ref={item => void item?.toggleAttribute('autofocus', i === first)}
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
