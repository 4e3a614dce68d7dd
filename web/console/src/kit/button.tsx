import type { ComponentProps } from 'react';
import { Icon, type IconName } from './icon.tsx';

interface ButtonProps extends Omit<ComponentProps<'button'>, 'aria-disabled'> {
  kind?: 'main' | 'plain' | 'danger' | 'link' | 'icon';
  icon?: IconName;
  /** The name of a button that shows only a picture. */
  label?: string;
}

/** A disabled button keeps the focus, which a browser takes from one with the attribute `disabled`, and gets it back from a dialog. */
export function Button({
  kind = 'plain',
  icon,
  label,
  disabled = false,
  onClick,
  children,
  className = '',
  ...rest
}: ButtonProps) {
  return (
    <button
      type="button"
      className={`button ${className}`}
      data-kind={kind}
      aria-label={label}
      aria-disabled={disabled}
      title={label}
      onClick={event => {
        if (!disabled) onClick?.(event);
        // It submits no form.
        else event.preventDefault();
      }}
      {...rest}
    >
      {icon && <Icon name={icon} />}
      {children}
    </button>
  );
}
