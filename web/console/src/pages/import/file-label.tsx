import type { ComponentProps } from 'react';

interface FileLabelProps extends ComponentProps<'label'> {
  /** The name of the invisible field. */
  name: string;
  onFile: (file: File) => void;
}

/** Something that can be pressed to choose a file in a dialog of the browser. */
export function FileLabel({ name, onFile, children, ...rest }: FileLabelProps) {
  return (
    <label {...rest}>
      {children}
      <input
        type="file"
        className="visually-hidden"
        aria-label={name}
        accept=".csv,.tsv,.txt,text/csv"
        onChange={event => {
          const [file] = event.target.files ?? [];
          // The same file can be chosen again after it was corrected.
          event.target.value = '';
          if (file) onFile(file);
        }}
      />
    </label>
  );
}
