import type { InventoryItem } from '@petstore/client';
import { useId, useRef, useState } from 'react';
import { Icon } from '../../kit/icon.tsx';
import { lazyPart } from '../../kit/lazy-part.tsx';
import type { Way } from './stock-editor.tsx';
import './stock-editor.css';

// It is not part of the first view.
const StockEditor = lazyPart(
  () => import('./stock-editor.tsx'),
  'StockEditor',
  () => <p>The service cannot be reached. This appears by itself when it is back.</p>,
);

const idOfButton = (petId: number | string) => `stock-of-${petId}`;

/** Opens the editor of a row. */
export function openStockMenu(petId: string): void {
  document.getElementById(idOfButton(petId))?.click();
}

interface StockMenuProps {
  item: InventoryItem;
  /** The name of the animal. */
  name: string;
  /** What the editor offers first. */
  way?: Way;
  /** What the button shows instead of the number of units. */
  children?: string;
  /** Is called when the editor has closed. */
  onClosed?: () => void;
}

/** The number of units in a row, as the button of the editor, which is over the table so that no row moves. */
export function StockMenu({ item, name, way, children, onClosed }: StockMenuProps) {
  const id = useId();
  const popover = useRef<HTMLDivElement>(null);
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button
        type="button"
        id={idOfButton(item.petId)}
        className={children ? 'button' : 'menu-button'}
        popoverTarget={id}
        aria-haspopup="dialog"
        aria-label={children ? `${children} ${name}` : `Stock of ${name}: ${item.quantity.toLocaleString()}`}
        onClick={event => event.stopPropagation()}
      >
        {children ?? (
          <>
            {item.quantity.toLocaleString()}
            <Icon name="down" />
          </>
        )}
      </button>
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: the table leaves the keys of an editor alone */}
      <div
        ref={popover}
        id={id}
        popover="auto"
        role="dialog"
        aria-label={`Stock of ${name}`}
        className="menu stock-editor"
        // A click in the editor must not reach the row around it.
        onClick={event => event.stopPropagation()}
        onToggle={event => {
          setOpen(event.newState === 'open');
          if (event.newState === 'closed') onClosed?.();
        }}
      >
        {isOpen && (
          <StockEditor item={item} name={name} way={way} onClose={() => popover.current?.hidePopover()} />
        )}
      </div>
    </>
  );
}
