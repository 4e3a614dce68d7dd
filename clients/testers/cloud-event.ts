// The library of CloudEvents. The package is here and not in service/, because the first start installs what the tests of the service
// share with other packages.
import { type CloudEvent, HTTP } from 'cloudevents';

/** Reads a message in structured mode, as a receiver with the library does. Throws when the library rejects it. */
export function readCloudEvent(headers: Record<string, string>, body: string): object {
  const message = { headers, body };
  if (!HTTP.isEvent(message)) throw new Error('The library finds no event in the message');
  const event = HTTP.toEvent(message) as CloudEvent;
  event.validate();
  return event.toJSON();
}
