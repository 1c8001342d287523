import { getEventListeners } from 'node:events'
import { Readable } from 'node:stream'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { MessageChannel } from 'node:worker_threads'
import { expect, it, onTestFinished } from 'vitest'
import { eventually } from '../../../test/kit/eventually.ts'
import { RemoteCalls } from './remote-calls.ts'

class Refusal extends Error {
  override name = 'Refusal'
  readonly code: string
  constructor(message: string, code: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}

const errors = {
  Refusal: ({ message, members, cause }: { message: string; members: object; cause: Error | undefined }) =>
    new Refusal(message, String(Reflect.get(members, 'code')), { cause }),
}

/** Both ends of a channel. What passes it is cloned, as between threads. */
function connect<T extends object>(serves: T) {
  const { port1, port2 } = new MessageChannel()
  onTestFinished(() => port1.close())
  const server = new RemoteCalls(port2, { serves, errors })
  const client = new RemoteCalls(port1, { errors })
  return { client, server, root: client.root<T>(Object.keys(serves) as (keyof T & string)[]) }
}

const numbers = async (iterable: AsyncIterable<number>) => {
  const read: number[] = []
  for await (const item of iterable) read.push(item)
  return read
}

it('calls methods with clones, and back through functions of an argument and of a result', async () => {
  const { root } = connect({
    async greet(request: { name: string; tags: Set<string>; suffix(text: string): Promise<string> }) {
      const text = await request.suffix(`${request.name} ${[...request.tags].join()}`)
      return { text, again: async (times: number) => text.repeat(times) }
    },
  })
  const greeting = await root.greet({ name: 'Ada', tags: new Set(['a', 'b']), suffix: async (text) => `${text}!` })
  expect(greeting.text).toBe('Ada a,b!')
  expect(await greeting.again(2)).toBe('Ada a,b!Ada a,b!')
})

it('passes on the abort of a signal, as an argument and as its member, before and during the call', async () => {
  const waitFor = (signal: AbortSignal) =>
    new Promise<string>((resolve) => {
      if (signal.aborted) resolve('at once')
      signal.addEventListener('abort', () => resolve('later'))
    })
  const { root } = connect({
    direct: async (signal: AbortSignal) => waitFor(signal),
    member: async (_id: number, { signal }: { signal: AbortSignal }) => waitFor(signal),
  })
  const abort = new AbortController()
  const results = [root.direct(abort.signal), root.member(1, { signal: abort.signal })]
  expect(await root.direct(AbortSignal.abort())).toBe('at once')
  abort.abort()
  expect(await Promise.all(results)).toEqual(['later', 'later'])
})

it('reads iterables item by item in both directions, and ends those that are left early', async () => {
  const log: string[] = []
  async function* count(to: number) {
    try {
      for (let at = 1; at <= to; at += 1) {
        log.push(`made ${at}`)
        yield at
      }
    } finally {
      log.push('ended')
    }
  }
  const { root } = connect({
    count,
    sum: async ({ items }: { items(): AsyncIterable<number> }) => (await numbers(items())).reduce((a, b) => a + b, 0),
  })
  for await (const item of root.count(1000)) {
    log.push(`read ${item}`)
    if (item === 2) break
  }
  expect(log).toEqual(['made 1', 'read 1', 'made 2', 'read 2', 'ended'])
  expect(await numbers(root.count(3))).toEqual([1, 2, 3])
  expect(await root.sum({ items: () => count(4) })).toBe(10)
})

it('aborts the signal of an iterable until its end', async () => {
  const { root } = connect({
    async *poll({ signal }: { signal: AbortSignal }) {
      while (!signal.aborted) {
        yield 1
        await new Promise((resolve) => setTimeout(resolve, 1))
      }
    },
  })
  const abort = new AbortController()
  let items = 0
  for await (const item of root.poll({ signal: abort.signal })) {
    items += item
    if (items === 3) abort.abort()
  }
  expect(items).toBeGreaterThanOrEqual(3)
})

it('rejects with errors of their classes, with causes, and returns those in lists', async () => {
  const cause = Object.assign(new Error('reset'), { code: 'ECONNRESET', socket: { open: false } })
  const { root } = connect({
    refuse: async () => {
      throw new Refusal('no', 'busy', { cause })
    },
    list: async (): Promise<unknown[]> => [1, new Refusal('not this', 'gone'), new TypeError('odd')],
    async *some() {
      yield 1
      throw new Refusal('nothing left', 'end')
    },
  })
  const refused = await root.refuse().catch((error: unknown) => error)
  expect(refused).toBeInstanceOf(Refusal)
  expect(refused).toMatchObject({ message: 'no', code: 'busy', cause: { message: 'reset', code: 'ECONNRESET' } })
  const [one, gone, odd] = await root.list()
  expect([one, gone, odd]).toMatchObject([1, { code: 'gone' }, { name: 'TypeError', message: 'odd' }])
  expect(gone).toBeInstanceOf(Refusal)
  await expect(numbers(root.some())).rejects.toMatchObject({ code: 'end' })
})

it('rejects a call whose argument cannot be cloned, and listens to its signal no longer', async () => {
  const { root } = connect({ store: async (_value: unknown, _signal: AbortSignal, _more?: object) => 'stored' })
  const { signal } = new AbortController()
  const uncloneable = { deep: { run: () => 1 } }
  await expect(root.store({}, signal, uncloneable)).rejects.toThrow(/could not be cloned/)
  expect(getEventListeners(signal, 'abort')).toEqual([])
  expect(await root.store('a', signal)).toBe('stored')
  expect(getEventListeners(signal, 'abort')).toEqual([])
})

it('rejects calls in progress and later ones once it has ended', async () => {
  const { client, root } = connect({ hang: () => new Promise<void>(() => {}) })
  const running = root.hang()
  client.end(new Refusal('the thread ended', 'lost'))
  client.end(new Error('again'))
  await expect(running).rejects.toMatchObject({ code: 'lost' })
  await expect(root.hang()).rejects.toMatchObject({ code: 'lost' })
})

it('ends what it serves of an iterable when the channel ends, and when a stream is dropped unread', async () => {
  const opened: Readable[] = []
  let ended = 0
  const { client, server, root } = connect({
    async open() {
      const stream = Readable.from(['a', 'b'])
      opened.push(stream)
      return stream
    },
    async *count() {
      try {
        yield 1
        yield 2
      } finally {
        ended += 1
      }
    },
  })
  for await (const item of root.count()) {
    expect(item).toBe(1)
    await root.open()
    server.end(new Error('the other thread ended'))
    client.end(new Error('the thread ended'))
    break
  }
  await eventually(() => ended === 1 && opened[0]?.destroyed === true)
})

it('reports whatever is thrown', async () => {
  const odd = new Error('odd')
  Object.defineProperty(odd, 'message', { value: () => 'no text' })
  const { root } = connect({
    nothing: async () => {
      throw Object.create(null)
    },
    odd: async () => {
      throw odd
    },
  })
  await expect(root.nothing()).rejects.toThrow('[object Object]')
  await expect(root.odd()).rejects.toThrow('no text')
})

it('drops what it serves once the other side has garbage-collected it', async () => {
  setFlagsFromString('--expose-gc')
  const gc: () => void = runInNewContext('gc')
  const served: WeakRef<object>[] = []
  const { root } = connect({
    async open() {
      const object = { read: async () => 'bytes' }
      served.push(new WeakRef(object))
      return object
    },
  })
  const kept = await root.open()
  await (await root.open()).read()
  await eventually(() => {
    gc()
    return served[1]?.deref() === undefined
  })
  expect(await kept.read()).toBe('bytes')
  expect(served[0]?.deref()).toBeDefined()
})
