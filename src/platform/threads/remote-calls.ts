import { Readable } from 'node:stream'
import { type MessagePort, Worker } from 'node:worker_threads'
import { decodeError, type EncodedError, type ErrorMakers, encodeError } from './remote-errors.ts'

interface RemoteCallsOptions {
  /** The object that the other thread gets from `root`. */
  serves?: object
  /** Makes errors of these classes again, by their names. Others arrive as `Error`. */
  errors?: ErrorMakers
}

/** A value as it crosses: cloned, or with the members that cannot be cloned named beside it. */
type Encoded =
  | { as: 'clone'; value: unknown }
  | { as: 'error'; error: EncodedError }
  | { as: 'list'; items: Encoded[] }
  | { as: 'signal'; signal: EncodedSignal }
  | { as: 'object'; id: number; value: object; methods: string[]; signals: Record<string, EncodedSignal> }
  | { as: 'iterable'; id: number }

interface EncodedSignal {
  id: number
  isAborted: boolean
}

type Message =
  | { call: number; object: number; method: string; args: Encoded[] }
  | { done: number; result: Encoded }
  | { failed: number; error: EncodedError }
  | { abort: number }
  | { release: number }

interface Served {
  methods: object
  /** Called when the other thread has dropped the object. */
  dropped?: () => void
}

interface Call {
  resolve(value: unknown): void
  reject(error: Error): void
  /** Stops listening to the signals among the arguments. */
  forget: Forget
}

type Forget = (() => void)[]

const ROOT = 0

/**
 * Calls of objects between two threads, in both directions. Arguments and results are cloned. Functions that are members of a plain
 * object become methods that call back, an `AbortSignal` becomes one that aborts with it, and what can be iterated is read item by item;
 * all three as an argument, a result, or a member of one, not deeper. Buffers arrive as `Uint8Array`. An object is kept until the
 * other thread has garbage-collected its side. Two objects that refer to each other from both threads are therefore kept for ever: what
 * calls back must lose its reference by itself when its work ends.
 */
export class RemoteCalls {
  readonly #port: Worker | MessagePort
  readonly #errors: ErrorMakers
  readonly #served = new Map<number, Served>()
  readonly #calls = new Map<number, Call>()
  /** For the signals of the other thread. */
  readonly #controllers = new Map<number, AbortController>()
  readonly #dropped = new FinalizationRegistry<number>((id) => this.#post({ release: id }))
  #nextId = ROOT + 1
  #endedWith: Error | undefined

  constructor(port: Worker | MessagePort, { serves, errors = {} }: RemoteCallsOptions = {}) {
    this.#port = port
    this.#errors = errors
    if (serves !== undefined) this.#served.set(ROOT, { methods: serves })
    const receive = (message: Message) => this.#receive(message)
    // TypeScript does not unite their overloads.
    if (port instanceof Worker) port.on('message', receive)
    else port.on('message', receive)
  }

  /** The object that the other thread serves. Each of its methods returns a promise, or what can be iterated. */
  root<T extends object>(methods: readonly (keyof T & string)[]): T {
    return this.#remoteObject(ROOT, methods) as T
  }

  /** Calls in progress and later ones reject with this error. */
  end(error: Error): void {
    this.#endedWith ??= error
    for (const { reject, forget } of this.#calls.values()) {
      for (const release of forget) release()
      reject(error)
    }
    for (const { dropped } of this.#served.values()) dropped?.()
    for (const map of [this.#calls, this.#served, this.#controllers]) map.clear()
  }

  #post(message: Message): void {
    if (this.#endedWith === undefined) this.#port.postMessage(message)
  }

  #receive(message: Message): void {
    if ('call' in message) void this.#serve(message)
    else if ('abort' in message) this.#controllers.get(message.abort)?.abort()
    else if ('release' in message) this.#release(message.release)
    else this.#settle(message)
  }

  #call(object: number, method: string, args: readonly unknown[]): Promise<unknown> {
    const result = new Promise((resolve, reject) => {
      if (this.#endedWith !== undefined) throw this.#endedWith
      const call = this.#nextId++
      const forget: Forget = []
      try {
        this.#post({ call, object, method, args: args.map((arg) => this.#encode(arg, forget)) })
        this.#calls.set(call, { resolve, reject, forget })
      } catch (error) {
        for (const release of forget) release()
        throw error
      }
    })
    // The caller of a method that returns an iterable does not wait for it, and may iterate later.
    result.catch(() => {})
    return Object.assign(result, { [Symbol.asyncIterator]: () => later(result as Promise<AsyncIterable<unknown>>) })
  }

  #settle(message: Extract<Message, { done: number } | { failed: number }>): void {
    const id = 'done' in message ? message.done : message.failed
    const call = this.#calls.get(id)
    if (call === undefined) return
    this.#calls.delete(id)
    const isRunning = 'done' in message && message.result.as === 'iterable'
    if (!isRunning) for (const release of call.forget) release()
    if ('failed' in message) call.reject(decodeError(message.error, this.#errors))
    else call.resolve(this.#decode(message.result, [], call.forget))
  }

  async #serve({ call, object, method, args }: Extract<Message, { call: number }>): Promise<void> {
    const signals: number[] = []
    const forget = () => {
      for (const id of signals) this.#controllers.delete(id)
    }
    try {
      const target = this.#served.get(object)?.methods
      const body: unknown = target && Reflect.get(target, method)
      if (typeof body !== 'function') throw new TypeError(`the other thread has no ${method} of object ${object}`)
      const result: unknown = await body.apply(
        target,
        args.map((arg) => this.#decode(arg, signals, [])),
      )
      const encoded = this.#encode(result, [], forget)
      if (encoded.as !== 'iterable') forget()
      this.#post({ done: call, result: encoded })
    } catch (error) {
      forget()
      this.#post({ failed: call, error: encodeError(error) })
    }
  }

  #release(id: number): void {
    const served = this.#served.get(id)
    this.#served.delete(id)
    served?.dropped?.()
  }

  /** `ended`: called when the other thread has read the iterable to its end, or no longer reads it. */
  #encode(value: unknown, forget: Forget, ended: () => void = () => {}): Encoded {
    if (value instanceof AbortSignal) return { as: 'signal', signal: this.#encodeSignal(value, forget) }
    if (value instanceof Error) return { as: 'error', error: encodeError(value) }
    if (typeof value !== 'object' || value === null) return { as: 'clone', value }
    if (Array.isArray(value)) {
      const hasErrors = value.some((item) => item instanceof Error)
      return hasErrors ? { as: 'list', items: value.map((item) => this.#encode(item, forget)) } : { as: 'clone', value }
    }
    if (Object.getPrototypeOf(value) === Object.prototype) return this.#encodeMembers(value, forget)
    return isIterable(value) ? { as: 'iterable', id: this.#serveIterable(value, ended) } : { as: 'clone', value }
  }

  #encodeMembers(value: object, forget: Forget): Encoded {
    const members = Object.entries(value)
    if (!members.some(([, member]) => typeof member === 'function' || member instanceof AbortSignal)) {
      return { as: 'clone', value }
    }
    const signals: Record<string, EncodedSignal> = {}
    const methods: string[] = []
    const cloned: Record<string, unknown> = {}
    for (const [name, member] of members) {
      if (typeof member === 'function') methods.push(name)
      else if (member instanceof AbortSignal) signals[name] = this.#encodeSignal(member, forget)
      else cloned[name] = member
    }
    const id = this.#nextId++
    if (methods.length > 0) this.#served.set(id, { methods: value })
    return { as: 'object', id, value: cloned, methods, signals }
  }

  #encodeSignal(signal: AbortSignal, forget: Forget): EncodedSignal {
    const id = this.#nextId++
    const abort = () => this.#post({ abort: id })
    signal.addEventListener('abort', abort, { once: true })
    forget.push(() => signal.removeEventListener('abort', abort))
    return { id, isAborted: signal.aborted }
  }

  #serveIterable(iterable: AsyncIterable<unknown> | Iterable<unknown>, ended: () => void): number {
    const iterator = Symbol.asyncIterator in iterable ? iterable[Symbol.asyncIterator]() : iterable[Symbol.iterator]()
    const id = this.#nextId++
    const end = () => {
      this.#served.delete(id)
      ended()
    }
    const stop = async () => {
      end()
      await iterator.return?.()
      // A stream that nobody has begun to read does not notice the end of its iterator.
      if (iterable instanceof Readable) iterable.destroy()
    }
    const next = async () => {
      let item: IteratorResult<unknown> | undefined
      try {
        item = await iterator.next()
      } finally {
        if (item === undefined || item.done) end()
      }
      return { done: item.done === true, value: item.value }
    }
    this.#served.set(id, { methods: { next, stop }, dropped: () => void stop().catch(() => {}) })
    return id
  }

  #decode(encoded: Encoded, signals: number[], forget: Forget): unknown {
    switch (encoded.as) {
      case 'clone':
        return encoded.value
      case 'error':
        return decodeError(encoded.error, this.#errors)
      case 'list':
        return encoded.items.map((item) => this.#decode(item, signals, forget))
      case 'signal':
        return this.#decodeSignal(encoded.signal, signals)
      case 'iterable':
        return iterateRemote(this.#remoteObject(encoded.id, ['next', 'stop']) as unknown as RemoteIterator, forget)
      case 'object': {
        const members = Object.entries(encoded.signals).map(([name, signal]) => [
          name,
          this.#decodeSignal(signal, signals),
        ])
        const methods = encoded.methods.length > 0 ? this.#remoteObject(encoded.id, encoded.methods) : {}
        return Object.assign(encoded.value, methods, Object.fromEntries(members))
      }
    }
  }

  #decodeSignal({ id, isAborted }: EncodedSignal, signals: number[]): AbortSignal {
    if (isAborted) return AbortSignal.abort()
    const controller = new AbortController()
    this.#controllers.set(id, controller)
    signals.push(id)
    return controller.signal
  }

  #remoteObject(id: number, methods: readonly string[]): Record<string, (...args: unknown[]) => Promise<unknown>> {
    // Every method refers to it, so it lives as long as one of them.
    const handle = { id }
    if (id !== ROOT) this.#dropped.register(handle, id)
    return Object.fromEntries(
      methods.map((method) => [method, (...args: unknown[]) => this.#call(handle.id, method, args)]),
    )
  }
}

interface RemoteIterator {
  next(): Promise<{ done: boolean; value: unknown }>
  stop(): Promise<void>
}

async function* iterateRemote({ next, stop }: RemoteIterator, forget: Forget): AsyncGenerator<unknown> {
  let hasMore = false
  try {
    for (;;) {
      hasMore = false
      const { done, value } = await next()
      if (done) return
      hasMore = true
      yield value
    }
  } finally {
    for (const release of forget) release()
    // A reader that leaves early does not care how it ends.
    if (hasMore) await stop().catch(() => {})
  }
}

async function* later(iterable: Promise<AsyncIterable<unknown>>): AsyncGenerator<unknown> {
  yield* await iterable
}

/** The bytes of a buffer that arrived as a plain byte array. A small one comes with all of the memory that it shared with others. */
export function toBuffer({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength)
}

function isIterable(value: object): value is AsyncIterable<unknown> | Iterable<unknown> {
  if (value instanceof Map || value instanceof Set || ArrayBuffer.isView(value)) return false
  return Symbol.asyncIterator in value || Symbol.iterator in value
}
