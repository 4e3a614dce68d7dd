interface Message {
  id: string;
  event: string;
  data: string;
}

/** Parses server-sent events as browsers do (HTML Living Standard, §9.2.6), and also collects comments. */
export class EventStreamParser {
  readonly comments: string[] = [];
  retry: number | undefined;
  lastEventId = '';
  #text = '';
  #id = '';
  #event = '';
  #data: string[] = [];

  take(text: string): Message[] {
    const lines = (this.#text + text).split('\n');
    this.#text = lines.pop()!;
    return lines.flatMap(line => this.#takeLine(line));
  }

  #takeLine(line: string): Message[] {
    if (line === '') return this.#dispatch();
    const [, field = '', value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line)!;
    if (field === '') this.comments.push(value);
    else if (field === 'id') this.#id = value;
    else if (field === 'event') this.#event = value;
    else if (field === 'data') this.#data.push(value);
    else if (field === 'retry' && /^\d+$/.test(value)) this.retry = Number(value);
    return [];
  }

  #dispatch(): Message[] {
    this.lastEventId = this.#id;
    const message = { id: this.#id, event: this.#event || 'message', data: this.#data.join('\n') };
    const isEmpty = this.#data.length === 0;
    this.#event = '';
    this.#data = [];
    return isEmpty ? [] : [message];
  }
}
