import { type DragEvent, useState } from 'react';
import { Icon } from '../../kit/icon.tsx';

interface DropZoneProps {
  /** The name of the file that is being read. */
  reading: string | undefined;
  /** Why the last file cannot be read. */
  error: string | undefined;
  onFile: (file: File) => void;
}

/** Takes a file by drag and drop, or from the dialog of the browser. */
export function DropZone({ reading, error, onFile }: DropZoneProps) {
  const [isOver, setOver] = useState(false);
  const [dropped, setDropped] = useState(0);
  function drop(event: DragEvent): void {
    // The browser would show the file instead of the console.
    event.preventDefault();
    setOver(false);
    const { files } = event.dataTransfer;
    setDropped(files.length);
    if (files.length === 1) onFile(files[0]!);
  }
  return (
    <>
      <label
        className="drop-zone"
        data-over={isOver || undefined}
        onDragOver={event => {
          event.preventDefault();
          setOver(true);
        }}
        onDragLeave={() => setOver(false)}
        onDrop={drop}
      >
        <Icon name="upload" />
        <strong>Drop a CSV file here, or choose one</strong>
        <span>
          The first line names the columns: name and category or categoryId, and optionally status and
          quantity.
        </span>
        <input
          type="file"
          className="visually-hidden"
          aria-label="CSV file"
          accept=".csv,.tsv,.txt,text/csv"
          onChange={event => {
            const [file] = event.target.files ?? [];
            // The same file can be chosen again after it was corrected.
            event.target.value = '';
            setDropped(0);
            if (file) onFile(file);
          }}
        />
      </label>
      {reading && <p role="status">Reading {reading} …</p>}
      {(error || dropped > 1) && (
        <p className="field-error" role="alert">
          {dropped > 1 ? `These are ${dropped} files: drop one at a time` : error}
        </p>
      )}
    </>
  );
}
