import type { ComponentProps } from 'react';
import { Icon, type IconName } from './icon.tsx';

interface ButtonProps extends ComponentProps<'button'> {
  kind?: 'main' | 'plain' | 'danger' | 'link' | 'icon';
  icon?: IconName;
  /** The name of a button that shows only a picture. */
  label?: string;
}

export function Button({ kind = 'plain', icon, label, children, className = '', ...rest }: ButtonProps) {
  return (
    <button
      type="button"
      className={`button ${className}`}
      data-kind={kind}
      aria-label={label}
      title={label}
      {...rest}
    >
      {icon && <Icon name={icon} />}
      {children}
    </button>
  );
}
