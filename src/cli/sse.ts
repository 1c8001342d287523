/** One server-sent event; without data it only moves the id. */
export interface ServerSentEvent {
  id: string | undefined
  event: string
  data: string
}

/** Takes the text of an event stream in pieces of any size and answers the events that are complete. */
export class SseParser {
  #rest = ''

  push(piece: string): ServerSentEvent[] {
    // A carriage return at the end may be half a line break.
    const blocks = (this.#rest + piece).replaceAll(/\r\n|\r(?!$)/g, '\n').split('\n\n')
    this.#rest = blocks.pop() ?? ''
    return blocks.map(eventOf)
  }
}

function eventOf(block: string): ServerSentEvent {
  const data: string[] = []
  const event: ServerSentEvent = { id: undefined, event: 'message', data: '' }
  for (const line of block.split('\n')) {
    const [, field, value = ''] = /^([^:]+)(?:: ?(.*))?$/s.exec(line) ?? []
    if (field === 'id') event.id = value
    else if (field === 'event') event.event = value
    else if (field === 'data') data.push(value)
  }
  return { ...event, data: data.join('\n') }
}
