import { Readable } from 'node:stream'
import { parentPort, type TransferListItem, Worker } from 'node:worker_threads'
import { decodeError, type EncodedError, encodeError } from './remote-errors.ts'

interface WorkerThreadOptions {
  /** Its entry file, which calls `serveThread`. */
  file: URL
  /** The value that the file reads as `workerData`. */
  data?: unknown
  /** A request that takes longer ends the thread; the next one starts another. */
  timeoutMs: number
  /** The thread ends after so long without requests. Without it, it runs until `close`. */
  idleMs?: number
}

interface Request {
  content: unknown
  transfer: readonly TransferListItem[]
  onPart(part: unknown): void
  resolve(result: unknown): void
  reject(error: Error): void
}

type Reply = { part: unknown } | { result: unknown } | { error: EncodedError }

/**
 * A worker thread that handles one request after the other, in the order of the calls. The first call starts it. Requests and results
 * are cloned. A call rejects with an `Error` when the handler throws (with the name of its error), when it takes too long, and when the
 * thread ends.
 */
export class WorkerThread<Content, Result> {
  readonly #options: WorkerThreadOptions
  readonly #waiting: Request[] = []
  #running: Request | undefined
  #worker: Worker | undefined
  /** Ends the thread when the running request, or being idle, takes too long. */
  #timer: NodeJS.Timeout | undefined
  #closed = false

  constructor(options: WorkerThreadOptions) {
    this.#options = options
  }

  /** `transfer`: buffers of the content to hand over instead of copying them. */
  call(content: Content, transfer: readonly TransferListItem[] = []): Promise<Result> {
    return this.#request(content, transfer, () => {})
  }

  /** The parts of a result, as the thread sends them (`serveParts`). It goes on while the caller handles one, and never waits. */
  parts(content: Content, transfer: readonly TransferListItem[] = []): AsyncIterable<Result> {
    const parts = new Readable({ objectMode: true, read() {} })
    this.#request(content, transfer, (part) => parts.push(part)).then(
      () => parts.push(null),
      (error: Error) => parts.destroy(error),
    )
    return parts
  }

  /** Calls in progress fail. Twice safely. */
  async close(): Promise<void> {
    this.#closed = true
    const waiting = this.#waiting.splice(0)
    await this.#end('it was closed')
    for (const { reject } of waiting) reject(new Error('it was closed'))
  }

  #request(content: Content, transfer: readonly TransferListItem[], onPart: Request['onPart']): Promise<Result> {
    if (this.#closed) return Promise.reject(new Error('it was closed'))
    return new Promise((resolve, reject) => {
      this.#waiting.push({ content, transfer, onPart, resolve: resolve as Request['resolve'], reject })
      this.#next()
    })
  }

  #next(): void {
    if (this.#running !== undefined) return
    clearTimeout(this.#timer)
    this.#running = this.#waiting.shift()
    if (this.#running === undefined) {
      this.#rest()
      return
    }
    this.#worker ??= this.#start()
    this.#timer = setTimeout(() => void this.#end('it did not respond in time'), this.#options.timeoutMs)
    this.#worker.postMessage(this.#running.content, this.#running.transfer)
  }

  #rest(): void {
    const { idleMs } = this.#options
    if (idleMs === undefined || this.#worker === undefined || this.#closed) return
    this.#timer = setTimeout(() => void this.#end('it was idle'), idleMs)
    // Ends a thread that does not keep the process alive either.
    this.#timer.unref()
  }

  #start(): Worker {
    const { file, data } = this.#options
    const worker = new Worker(file, { workerData: data })
    worker.on('message', (reply: Reply) => {
      if (this.#worker !== worker) return
      if ('part' in reply) this.#running?.onPart(reply.part)
      else this.#settle(reply)
    })
    worker.on('error', (error) => {
      if (this.#worker === worker) void this.#end(error)
    })
    worker.on('exit', () => {
      if (this.#worker === worker) void this.#end('it ended')
    })
    worker.unref()
    return worker
  }

  #settle(reply: Exclude<Reply, { part: unknown }>): void {
    const request = this.#running
    this.#running = undefined
    if ('result' in reply) request?.resolve(reply.result)
    else request?.reject(decodeError(reply.error, {}))
    this.#next()
  }

  /** Ends the thread with the running request. The waiting requests get another thread. */
  async #end(reason: unknown): Promise<void> {
    const worker = this.#worker
    this.#worker = undefined
    clearTimeout(this.#timer)
    if (this.#running !== undefined) this.#settle({ error: encodeError(reason) })
    await worker?.terminate()
  }
}

/** Handles the requests of a `WorkerThread`. Called once, by the file of the thread. */
export function serveThread<Content, Result>(handle: (content: Content) => Result | Promise<Result>): void {
  parentPort?.on('message', (content: Content) => {
    void replyTo(handle, content).then((reply) => parentPort?.postMessage(reply))
  })
}

/** Handles the requests of `WorkerThread.parts`. Called once, by the file of the thread. */
export function serveParts<Content, Part>(handle: (content: Content) => AsyncIterable<Part>): void {
  serveThread<Content, void>(async (content) => {
    for await (const part of handle(content)) parentPort?.postMessage({ part })
  })
}

async function replyTo<Content, Result>(
  handle: (content: Content) => Result | Promise<Result>,
  content: Content,
): Promise<Reply> {
  try {
    return { result: await handle(content) }
  } catch (error) {
    return { error: encodeError(error) }
  }
}
