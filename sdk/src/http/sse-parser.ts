import { PosthornError } from '../errors.ts'

/** A server-sent event. Without data it only says where the stream is. */
export interface ServerSentEvent {
  id: string | undefined
  data: string
}

/** Characters of an event that is not yet complete. */
const MAX_LENGTH = 32 * 1024 * 1024

/** Parses the text of an event stream, in chunks of any size. */
export class SseParser {
  #incomplete = ''

  /** Returns the events that are complete. */
  push(chunk: string): ServerSentEvent[] {
    // A carriage return at the end may be half a line break.
    const blocks = (this.#incomplete + chunk).replaceAll(/\r\n|\r(?!$)/g, '\n').split('\n\n')
    this.#incomplete = blocks.pop() ?? ''
    if (this.#incomplete.length > MAX_LENGTH) throw new PosthornError('The service sent an event that is too long.')
    return blocks.map(parseEvent)
  }
}

function parseEvent(block: string): ServerSentEvent {
  const data: string[] = []
  let id: string | undefined
  for (const line of block.split('\n')) {
    const [, field, value = ''] = /^([^:]+)(?:: ?(.*))?$/s.exec(line) ?? []
    if (field === 'id') id = value
    else if (field === 'data') data.push(value)
  }
  return { id, data: data.join('\n') }
}
