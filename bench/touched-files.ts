import { readFile } from 'node:fs/promises'
import { SourceMap } from 'node:module'
import { fileURLToPath } from 'node:url'
import { WebSocket } from 'undici'

/** A running service, and the workers that it has started. */
export interface Inspector {
  /** Those files below `src/` of which a function runs during `act`, in the main thread or a worker, sorted. */
  filesDuring(act: () => Promise<void>): Promise<string[]>
  close(): void
}

interface Covered {
  url: string
  functions: { ranges: { startOffset: number; count: number }[] }[]
}

/** Sends a command of the DevTools protocol. */
type Send = (method: string, params?: object) => Promise<{ result?: Covered[] }>

/** `output`: what the service printed; it must run with `--inspect`. */
export async function inspect(output: string): Promise<Inspector> {
  const address = /ws:\/\/127\.0\.0\.1:\d+\/[\w-]+/.exec(output)?.[0]
  if (address === undefined) throw new Error('The service does not run with --inspect.')
  const socket = new WebSocket(address)
  await new Promise((resolve, reject) => {
    socket.onopen = resolve
    socket.onerror = reject
  })
  const workers = new Map<string, { send: Send; receive: (text: string) => void }>()
  const main = session((text) => socket.send(text), onEvent)
  socket.onmessage = ({ data }) => main.receive(String(data))

  function onEvent(method: string, { sessionId = '', message = '' }: { sessionId?: string; message?: string }): void {
    if (method === 'NodeWorker.attachedToWorker') {
      const toWorker = (text: string) =>
        void main.send('NodeWorker.sendMessageToWorker', {
          sessionId,
          message: text,
        })
      workers.set(
        sessionId,
        session(toWorker, () => {}),
      )
    }
    if (method === 'NodeWorker.detachedFromWorker') workers.delete(sessionId)
    if (method === 'NodeWorker.receivedMessageFromWorker') workers.get(sessionId)?.receive(message)
  }

  await main.send('NodeWorker.enable', { waitForDebuggerOnStart: false })
  return {
    async filesDuring(act) {
      const threads = [main, ...workers.values()]
      for (const { send } of threads) {
        await send('Profiler.enable')
        await send('Profiler.startPreciseCoverage', { callCount: true })
      }
      // Forgets what has run before.
      for (const { send } of threads) await send('Profiler.takePreciseCoverage')
      await act()
      const taken = await Promise.all(threads.map(({ send }) => send('Profiler.takePreciseCoverage')))
      for (const { send } of threads) await send('Profiler.stopPreciseCoverage')
      return sourceFiles(taken.flatMap(({ result = [] }) => result))
    },
    close: () => socket.close(),
  }
}

/** One thread: numbers the commands, and returns each result to who sent the command. */
function session(write: (text: string) => void, onEvent: (method: string, params: object) => void) {
  const waiting = new Map<number, (result: { result?: Covered[] }) => void>()
  let last = 0
  const send: Send = (method, params = {}) => {
    last += 1
    const id = last
    const result = new Promise<{ result?: Covered[] }>((resolve) => waiting.set(id, resolve))
    write(JSON.stringify({ id, method, params }))
    return result
  }
  const receive = (text: string): void => {
    const { id, result, method, params } = JSON.parse(text)
    if (id === undefined) onEvent(method, params)
    waiting.get(id)?.(result)
    waiting.delete(id)
  }
  return { send, receive }
}

async function sourceFiles(covered: readonly Covered[]): Promise<string[]> {
  const files = new Set<string>()
  for (const { url, functions } of covered) {
    if (!url.startsWith('file:') || !url.includes('/dist/')) continue
    const bundle = fileURLToPath(url)
    const [code, map] = await Promise.all([readFile(bundle, 'utf8'), readFile(`${bundle}.map`, 'utf8')])
    const sources = new SourceMap(JSON.parse(map))
    const lineStarts = [0, ...[...code.matchAll(/\n/g)].map(({ index }) => index + 1)]
    for (const { ranges } of functions) {
      const [called] = ranges
      if (called === undefined || called.count === 0) continue
      const line = lineStarts.findLastIndex((start) => start <= called.startOffset)
      const entry = sources.findEntry(line, called.startOffset - (lineStarts[line] ?? 0))
      const file = 'originalSource' in entry && /(?:^|\/)(src\/.*)$/.exec(entry.originalSource)?.[1]
      if (file) files.add(file)
    }
  }
  return [...files].sort()
}
