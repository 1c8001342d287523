import assert from 'node:assert/strict'
import { createServer } from 'node:net'
import { describe, expect, it } from 'vitest'
import { decodeError, encodeError } from '../threads/remote-errors.ts'
import { isProgrammingError, rethrowProgrammingError } from './programming-errors.ts'

const nothing: ReturnType<typeof JSON.parse> = {}
const thrownBy = async (work: () => unknown): Promise<unknown> => {
  try {
    return await work()
  } catch (error) {
    return error
  }
}

describe('programming errors', () => {
  it.each<[string, () => unknown]>([
    ['a member of undefined', () => nothing.member.length],
    ['a call of what is no function', () => nothing.member()],
    ['a class that was not imported', () => new nothing.Busboy()],
    ['an argument that Node refuses', () => Buffer.from(nothing.member)],
    ['a length out of range', () => new Array(-1)],
    ['a failed assertion', () => assert.equal(1, 2)],
  ])('are such: %s', async (_what, work) => {
    const error = await thrownBy(work)
    expect([error, isProgrammingError(error)]).toEqual([expect.any(Error), true])
    expect(() => rethrowProgrammingError(error)).toThrow(error as Error)
    const received = decodeError(encodeError(error), {})
    expect(isProgrammingError(received)).toBe(true)
  })

  it.each<[string, () => unknown]>([
    ['an address of a user', () => new URL('no address')],
    ['a text that is not JSON', () => JSON.parse('{')],
    ['a percent sign', () => decodeURIComponent('%')],
    ['bytes that are not UTF-8', () => new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from([0xff]))],
    ['an unknown character set', () => new TextDecoder('no-charset')],
    ['an abort', () => AbortSignal.abort().throwIfAborted()],
    ['any other error', () => Promise.reject(new Error('no'))],
    ['what is no error', () => Promise.reject('no')],
  ])('are not such: %s', async (_what, work) => {
    const error = await thrownBy(work)
    expect([error, isProgrammingError(error)]).toEqual([expect.anything(), false])
    rethrowProgrammingError(error)
  })

  it('are not failed connections of fetch', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    const { port } = server.address() as { port: number }
    await new Promise((resolve) => server.close(resolve))
    const refused = await thrownBy(() => fetch(`http://127.0.0.1:${port}`))
    expect([refused, isProgrammingError(refused)]).toEqual([expect.any(TypeError), false])
  })
})
