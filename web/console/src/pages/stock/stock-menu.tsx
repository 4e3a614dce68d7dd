import type { InventoryItem } from '@petstore/client';
import { useId, useRef, useState } from 'react';
import { Icon } from '../../kit/icon.tsx';
import { StockEditor } from './stock-editor.tsx';
import './stock-editor.css';

const idOfButton = (petId: number | string) => `stock-of-${petId}`;

/** Opens the editor of a row. */
export function openStockMenu(petId: string): void {
  document.getElementById(idOfButton(petId))?.click();
}

interface StockMenuProps {
  item: InventoryItem;
  /** The name of the animal. */
  name: string;
  /** Is called when the editor has closed. */
  onClosed?: () => void;
}

/** The number of units in a row, as the button of the editor, which is over the table so that no row moves. */
export function StockMenu({ item, name, onClosed }: StockMenuProps) {
  const id = useId();
  const popover = useRef<HTMLDivElement>(null);
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button
        type="button"
        id={idOfButton(item.petId)}
        className="menu-button"
        popoverTarget={id}
        aria-haspopup="dialog"
        aria-label={`Stock of ${name}: ${item.quantity}`}
        onClick={event => event.stopPropagation()}
      >
        {item.quantity.toLocaleString()}
        <Icon name="down" />
      </button>
      <div
        ref={popover}
        id={id}
        popover="auto"
        role="dialog"
        aria-label={`Stock of ${name}`}
        className="menu stock-editor"
        // A click or an arrow key in the editor must not reach the row around it.
        onClick={event => event.stopPropagation()}
        onKeyDown={event => event.stopPropagation()}
        onToggle={event => {
          setOpen(event.newState === 'open');
          if (event.newState === 'closed') onClosed?.();
        }}
      >
        {isOpen && <StockEditor item={item} name={name} onClose={() => popover.current?.hidePopover()} />}
      </div>
    </>
  );
}
