import { describe, expect, it } from 'vitest'
import { SseParser } from '../src/http/sse-parser.ts'

const TEXT =
  'retry: 1000\nid: 7\n\n: still here\n\nid: 8\nevent: message.received\ndata: {"a":"x: y\u2028z"}\n\ndata: one\ndata: two\n\ndata: unfinished'

const EVENTS = [
  { id: '7', data: '' },
  { id: undefined, data: '' },
  { id: '8', data: '{"a":"x: y\u2028z"}' },
  { id: undefined, data: 'one\ntwo' },
]

describe('the parser of server-sent events', () => {
  it.each([['\n'], ['\r\n'], ['\r']])('reads events whose lines end in %j, in chunks of any size', (lineEnd) => {
    const text = TEXT.replaceAll('\n', lineEnd)
    for (const size of [1, 3, 7, text.length]) {
      const parser = new SseParser()
      const events = []
      for (let at = 0; at < text.length; at += size) events.push(...parser.push(text.slice(at, at + size)))
      expect(events).toEqual(EVENTS)
    }
  })
})
