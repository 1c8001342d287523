import { randomBytes } from 'node:crypto'
import type { Static } from 'typebox'
import { type Bus, jsonReader, subscribeJson } from '../../platform/bus/index.ts'
import { withTimeout } from '../../platform/concurrency/abort.ts'
import type { LogEntry, LogFilter, LogRange, LogRing, LogView } from '../../platform/log/index.ts'
import { JOINED_LIMITS, requestSchema, responseSchema, viewSchema } from './hints.ts'
import { joiner, split } from './split-text.ts'

export interface SharedLogsDeps {
  bus: Bus
  ring: Pick<LogRing, 'select'>
  instanceId: string
  /** Every live instance, with or without this one. */
  instances(): Promise<readonly string[]>
  /** How long to wait for other replicas. Default 500. */
  waitMs?: number
}

/** The merged log rings of all replicas. */
export interface SharedLogs {
  select(filter: LogFilter, range: LogRange): Promise<LogView & { missing: string[] }>
  /** Stops responding to other replicas. Twice safely. */
  close(): void
}

interface LogRequest {
  id: string
  from: string
  filter: LogFilter
  range: LogRange
}

type ResponsePart = Static<typeof responseSchema>

const REQUEST_TOPIC = 'logs.ask'
const RESPONSE_TOPIC = 'logs.answer'
const WAIT_MS = 500
/** Reported as missing when the list of replicas cannot be read. */
const UNKNOWN = 'unknown'

export function sharedLogs(deps: SharedLogsDeps): SharedLogs {
  const { bus, ring, instanceId, waitMs = WAIT_MS } = deps
  const pending = new Map<string, (part: ResponsePart) => void>()

  const readView = jsonReader(viewSchema, JOINED_LIMITS)

  const stopResponding = subscribeJson(bus, REQUEST_TOPIC, requestSchema, (request) => {
    if (request.from === instanceId) return
    const view = JSON.stringify(ring.select(request.filter, request.range))
    for (const part of split(view)) {
      const response: ResponsePart = { id: request.id, from: instanceId, ...part }
      bus.publish(RESPONSE_TOPIC, JSON.stringify(response))
    }
  })
  const stopListening = subscribeJson(bus, RESPONSE_TOPIC, responseSchema, (part) => {
    pending.get(part.id)?.(part)
  })

  /** The views of the replicas that responded in time. */
  function request(others: readonly string[], filter: LogFilter, range: LogRange): Promise<Map<string, LogView>> {
    const id = randomBytes(9).toString('base64url')
    const views = new Map<string, LogView>()
    const joiners = new Map(others.map((other) => [other, joiner()]))
    return new Promise((resolve) => {
      const finish = () => {
        clearTimeout(timer)
        pending.delete(id)
        resolve(views)
      }
      const timer = setTimeout(finish, waitMs)
      pending.set(id, (part) => {
        const joined = joiners.get(part.from)?.(part)
        const view = joined === undefined ? undefined : readView(joined)
        if (view !== undefined) views.set(part.from, view)
        else if (joined !== undefined) bus.reportInvalid?.(RESPONSE_TOPIC)
        if (views.size === others.length) finish()
      })
      const message: LogRequest = { id, from: instanceId, filter, range }
      bus.publish(REQUEST_TOPIC, JSON.stringify(message))
    })
  }

  /** Undefined when the database fails: that is when an operator needs the records that are available. */
  async function otherInstances(): Promise<string[] | undefined> {
    try {
      const living = await withTimeout(deps.instances(), waitMs, () => new Error('the database does not respond'))
      return living.filter((instance) => instance !== instanceId)
    } catch {
      return undefined
    }
  }

  return {
    async select(filter, range) {
      const mine = ring.select(filter, range)
      const others = await otherInstances()
      if (others === undefined) return { ...mine, missing: [UNKNOWN] }
      if (others.length === 0) return { ...mine, missing: [] }
      const views = await request(others, filter, range)
      return {
        ...merged([mine, ...views.values()], range.limit),
        missing: others.filter((other) => !views.has(other)),
      }
    },
    close() {
      stopResponding()
      stopListening()
    },
  }
}

function merged(views: readonly LogView[], limit: number): LogView {
  const entries = views.flatMap((view) => view.entries).sort(newestFirst)
  return { entries: entries.slice(0, limit), total: views.reduce((sum, view) => sum + view.total, 0) }
}

function newestFirst(left: LogEntry, right: LogEntry): number {
  return left.id < right.id ? 1 : left.id > right.id ? -1 : 0
}
