import { get, type IncomingMessage } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import { eventually } from '../kit/eventually.ts'

export interface StreamReaders {
  /** Streams that read everything. One more follows: it reconnects with its last position whenever its stream ends. */
  reading: number
  /** Streams that never read a byte. */
  stalled: number
}

export interface HostileStreams {
  /** Waits until the follower received an event for every subject, requires each once, and returns how often streams were opened. */
  stop(subjects: readonly string[]): Promise<number>
}

const PAUSE_MS = 500

/** Applications that stream events while the service is attacked. Some of them hang. */
export function startEventStreams(
  url: string,
  keys: readonly string[],
  { reading, stalled }: StreamReaders,
): HostileStreams {
  const received: string[] = []
  const open = new Set<IncomingMessage>()
  let isStopped = false
  let opened = 0

  /** Resolves when the stream has ended. */
  function stream(
    key: string,
    lastEventId: string | undefined,
    read: (response: IncomingMessage) => void,
  ): Promise<void> {
    opened += 1
    return new Promise((resolve) => {
      const headers = {
        authorization: `Bearer ${key}`,
        ...(lastEventId !== undefined && { 'last-event-id': lastEventId }),
      }
      const request = get(`${url}/events/stream`, { headers, agent: false }, (response) => {
        open.add(response)
        response.once('close', () => {
          open.delete(response)
          resolve()
        })
        response.on('error', () => {})
        read(response)
      })
      request.on('error', () => resolve())
    })
  }

  async function repeat(once: () => Promise<void>): Promise<void> {
    while (!isStopped) {
      await once()
      await sleep(PAUSE_MS)
    }
  }

  const keyAt = (index: number) => keys[index % keys.length] ?? ''
  let position: string | undefined
  const follow = () => {
    let unread = ''
    return stream(keyAt(0), position, (response) => {
      response.setEncoding('utf8').on('data', (text: string) => {
        const frames = (unread + text).split('\n\n')
        unread = frames.pop() ?? ''
        for (const frame of frames) {
          position = /^id: (\d+)$/m.exec(frame)?.[1] ?? position
          const event = /^data: (.+)$/m.exec(frame)?.[1]
          if (event === undefined) continue
          const { type, data } = JSON.parse(event)
          if (type === 'message.received') received.push(data.subject)
        }
      })
    })
  }
  const running = [
    repeat(follow),
    ...Array.from({ length: reading }, (_, index) =>
      repeat(() => stream(keyAt(index), undefined, (response) => response.resume())),
    ),
    ...Array.from({ length: stalled }, (_, index) =>
      repeat(() => stream(keyAt(index), undefined, (response) => response.pause())),
    ),
  ]

  return {
    async stop(subjects) {
      const missing = () => subjects.filter((subject) => !received.includes(subject))
      await eventually(() => expect(missing()).toEqual([]), 60_000)
      isStopped = true
      for (const response of open) response.destroy()
      await Promise.all(running)
      expect([...received].sort()).toEqual([...subjects].sort())
      return opened
    },
  }
}
