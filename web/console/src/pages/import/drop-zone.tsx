import { type DragEvent, useState } from 'react';
import { Icon } from '../../kit/icon.tsx';
import { FileLabel } from './file-label.tsx';

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
      <FileLabel
        name="CSV file"
        onFile={file => {
          setDropped(0);
          onFile(file);
        }}
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
          The first line names the columns, in English, German, French or Spanish: a name and a category, and
          optionally a status and a quantity.
        </span>
      </FileLabel>
      {reading && <p role="status">Reading {reading} …</p>}
      {(error || dropped > 1) && (
        <p className="field-error" role="alert">
          {dropped > 1 ? `These are ${dropped} files: drop one at a time` : error}
        </p>
      )}
    </>
  );
}
