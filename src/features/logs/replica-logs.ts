import { randomBytes } from 'node:crypto'
import type { Bus } from '../../infra/bus/index.ts'
import type { LogEntry, LogFilter, LogRange, LogRing, LogView } from '../../infra/log/index.ts'
import { withTimeout } from '../../lib/abort.ts'
import { cut, joiner, type Piece } from './pieces.ts'

export interface SharedLogsDeps {
  bus: Bus
  ring: Pick<LogRing, 'select'>
  instanceId: string
  /** Every instance that lives now, with or without this one. */
  instances(): Promise<readonly string[]>
  /** How long others may take; default 500. */
  waitMs?: number
}

/** The rings of all replicas as one. */
export interface SharedLogs {
  select(filter: LogFilter, range: LogRange): Promise<LogView & { missing: string[] }>
  /** Stops answering others. */
  close(): void
}

interface Question {
  id: string
  from: string
  filter: LogFilter
  range: LogRange
}

interface Answer extends Piece {
  id: string
  from: string
}

const ASK = 'logs.ask'
const ANSWER = 'logs.answer'
const WAIT_MS = 500
/** Named as missing when nobody can say which replicas there are. */
const UNKNOWN = 'unknown'

export function sharedLogs(deps: SharedLogsDeps): SharedLogs {
  const { bus, ring, instanceId, waitMs = WAIT_MS } = deps
  const listening = new Map<string, (answer: Answer) => void>()

  const stopAnswering = bus.subscribe(ASK, (payload) => {
    if (payload === undefined) return
    const question: Question = JSON.parse(payload)
    if (question.from === instanceId) return
    const view = JSON.stringify(ring.select(question.filter, question.range))
    for (const piece of cut(view)) {
      const answer: Answer = { id: question.id, from: instanceId, ...piece }
      bus.publish(ANSWER, JSON.stringify(answer))
    }
  })
  const stopListening = bus.subscribe(ANSWER, (payload) => {
    if (payload === undefined) return
    const answer: Answer = JSON.parse(payload)
    listening.get(answer.id)?.(answer)
  })

  /** The views of the others that came in time. */
  function ask(others: readonly string[], filter: LogFilter, range: LogRange): Promise<Map<string, LogView>> {
    const id = randomBytes(9).toString('base64url')
    const views = new Map<string, LogView>()
    const joiners = new Map(others.map((other) => [other, joiner()]))
    return new Promise((resolve) => {
      const finish = () => {
        clearTimeout(timer)
        listening.delete(id)
        resolve(views)
      }
      const timer = setTimeout(finish, waitMs)
      listening.set(id, (answer) => {
        const whole = joiners.get(answer.from)?.(answer)
        if (whole !== undefined) views.set(answer.from, JSON.parse(whole))
        if (views.size === others.length) finish()
      })
      const question: Question = { id, from: instanceId, filter, range }
      bus.publish(ASK, JSON.stringify(question))
    })
  }

  /** Undefined when the database does not say: just then an operator needs the records that can be had. */
  async function otherInstances(): Promise<string[] | undefined> {
    try {
      const living = await withTimeout(deps.instances(), waitMs, () => new Error('the database does not answer'))
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
      const views = await ask(others, filter, range)
      return {
        ...merged([mine, ...views.values()], range.limit),
        missing: others.filter((other) => !views.has(other)),
      }
    },
    close() {
      stopAnswering()
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
