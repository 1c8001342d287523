import { describe, expect, it } from 'vitest'
import { fc } from '../../../test/kit/random/random.ts'
import { type BatchPart, batchBody, batchParts } from './batch-parts.ts'

const TYPE = 'multipart/mixed; boundary=batch_x'

function response(parts: string[], eol = '\r\n'): Buffer {
  const text = parts.map((body, index) =>
    [
      '--batch_x',
      'Content-Type: application/http',
      `Content-ID: <response-item-${index}>`,
      '',
      'HTTP/1.1 200 OK',
      'Content-Type: application/json; charset=UTF-8',
      'Retry-After: 7',
      '',
      body,
    ].join(eol),
  )
  return Buffer.from(`${text.join(eol)}${eol}--batch_x--${eol}`)
}

async function read(bytes: Buffer, cuts: number[] = [], maxPartBytes = 10_000): Promise<BatchPart[]> {
  async function* chunks() {
    let from = 0
    for (const cut of [...cuts, bytes.length].sort((one, other) => one - other)) {
      yield bytes.subarray(from, cut)
      from = Math.max(from, cut)
    }
  }
  const parts: BatchPart[] = []
  for await (const part of batchParts(chunks(), TYPE, maxPartBytes)) parts.push(part)
  return parts
}

describe('a batch response', () => {
  it('is parsed part by part, wherever the chunks end', async () => {
    const bodies = ['{"id":"größe"}', '', '{"text":"--batch_y\\r\\n--batch_"}', 'no json']
    const bytes = response(bodies)
    const whole = await read(bytes)
    expect(whole.map(({ index, response: part }) => [index, part?.status, part?.body])).toEqual([
      [0, 200, { id: 'größe' }],
      [1, 200, undefined],
      [2, 200, { text: '--batch_y\r\n--batch_' }],
      [3, 200, undefined],
    ])
    expect(whole[0]?.response?.headers['retry-after']).toBe('7')
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(bytes.length), { maxLength: 30 }), async (cuts) => {
        expect(await read(bytes, cuts)).toEqual(whole)
      }),
      { numRuns: 50 },
    )
  })

  it('skips a part over the size limit and continues after it', async () => {
    const bytes = response(['{"id":1}', JSON.stringify({ text: 'x'.repeat(50_000) }), '{"id":3}'])
    const cuts = Array.from({ length: 50 }, (_, i) => i * 1000)
    const parts = await read(bytes, cuts, 5000)
    expect(parts.map(({ index, response: part }) => [index, part?.body])).toEqual([
      [0, { id: 1 }],
      [1, undefined],
      [2, { id: 3 }],
    ])
    expect(parts[1]?.response).toBeUndefined()
  })

  it('stops at the size limit of all parts, which leaves the rest to another request', async () => {
    async function* endless() {
      const [part = Buffer.alloc(0)] = [response(['{"id":1}']).subarray(0, -'--batch_x--\r\n'.length)]
      for (;;) yield part
    }
    let parts = 0
    for await (const _part of batchParts(endless(), TYPE, 10_000, 100_000)) parts += 1
    expect(parts).toBeGreaterThan(100)
    expect(parts).toBeLessThan(1000)
  })

  it('treats a part of hostile JSON as too long', async () => {
    const deep = `${'['.repeat(3000)}${']'.repeat(3000)}`
    const parts = await read(response([deep, '{"id":2}']))
    expect(parts.map(({ response: part }) => part?.body)).toEqual([undefined, { id: 2 }])
    expect(parts[0]?.response).toBeUndefined()
  })

  it('throws unavailable without a boundary, and yields the complete parts of a truncated body', async () => {
    const bytes = response(['{"id":1}', '{"id":2}'])
    expect(await read(bytes.subarray(0, bytes.length - 30))).toHaveLength(1)
    expect(await read(Buffer.from('<html>'))).toEqual([])
    const none = batchParts((async function* () {})(), 'text/html', 10)
    await expect(none.next()).rejects.toMatchObject({ kind: 'unavailable' })
  })

  it('contains a numbered part for each request', () => {
    const get = { method: 'GET' as const, path: '/a?x=1' }
    expect(batchBody([get, { method: 'POST', path: '/b', json: { name: 'ä' } }], 'edge').split('\r\n')).toEqual([
      '--edge',
      'Content-Type: application/http',
      'Content-ID: <item-0>',
      '',
      'GET /a?x=1 HTTP/1.1',
      'Accept: application/json',
      '',
      '',
      '--edge',
      'Content-Type: application/http',
      'Content-ID: <item-1>',
      '',
      'POST /b HTTP/1.1',
      'Accept: application/json',
      'Content-Type: application/json',
      'Content-Length: 13',
      '',
      '{"name":"ä"}',
      '--edge--',
      '',
    ])
  })
})
