import { systemClock } from '../lib/clock.ts'
import { generateSigningSecret, webhookHeaders } from '../lib/signature.ts'
import { isoTime } from '../lib/time.ts'
import { type Command, required, UsageError } from './command.ts'
import { eventSource } from './event-source.ts'
import { reasonOf, runningService, SERVICE_OPTIONS } from './running-service.ts'
import type { Terminal } from './terminal.ts'

/** As `GET /events/stream` sends it. */
interface StreamedEvent {
  position: number
  test: boolean
  id: string
  type: string
}

const TIMEOUT_MS = 30_000
const WIDEST_TYPE = 24

/**
 * For development: passes the events of a running service on to an address that only this machine reaches, as webhooks, one
 * after the other, each once. Until SIGINT or SIGTERM.
 */
export const listenCommand: Command = {
  options: [...SERVICE_OPTIONS, 'forward', 'type', 'secret'],
  async run(terminal, given) {
    const forward = required(given, 'forward')
    if (!URL.canParse(forward) || !/^https?:$/.test(new URL(forward).protocol)) {
      throw new UsageError('--forward must be an address such as http://localhost:3000/hook.')
    }
    const service = runningService(given)
    const secret = given.options.secret ?? generateSigningSecret()
    terminal.out(`Signing secret: ${secret}`)
    await untilSignal(async (signal) => {
      const options = {
        service,
        type: given.options.type,
        onOpen: () => terminal.out(`Events of ${service.url} go to ${forward}. Ctrl-C ends.`),
        onTrouble: (reason: string) => terminal.error(`No connection to ${service.url}: ${reason}. Trying again.`),
      }
      for await (const { data } of eventSource(options, signal)) {
        await pass(JSON.parse(data), forward, secret, terminal, signal)
      }
    })
  },
}

async function pass(
  event: StreamedEvent,
  forward: string,
  secret: string,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<void> {
  const startedMs = systemClock.monotonic()
  const answer = await send(event, forward, secret, signal)
  if (signal.aborted) return
  const tookMs = Math.round(systemClock.monotonic() - startedMs)
  const at = isoTime(systemClock.now()).slice(11, 19)
  const mark = event.test ? ' (test)' : ''
  terminal.out(`${at}  ${event.type.padEnd(WIDEST_TYPE)} ${event.id}${mark} -> ${answer} in ${tookMs} ms`)
}

/** As a delivery would be: the same body but for a delivery's id of its own, signed the same way. */
async function send(event: StreamedEvent, forward: string, secret: string, signal: AbortSignal): Promise<string> {
  const { position: _position, test, ...rest } = event
  const body = JSON.stringify({ deliveryId: event.id.replace(/^evt_/, 'dlv_'), test, ...rest })
  const timestamp = Math.floor(systemClock.now() / 1000)
  try {
    const response = await fetch(forward, {
      method: 'POST',
      redirect: 'manual',
      headers: {
        'content-type': 'application/json',
        'user-agent': 'Posthorn-Webhooks/1',
        ...webhookHeaders({ id: event.id, timestamp, body, secrets: [secret] }),
      },
      body,
      signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
    })
    await response.body?.cancel()
    return String(response.status)
  } catch (error) {
    return `no answer (${reasonOf(error)})`
  }
}

async function untilSignal(work: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const ending = new AbortController()
  const end = () => ending.abort()
  process.once('SIGINT', end).once('SIGTERM', end)
  try {
    await work(ending.signal)
  } finally {
    process.off('SIGINT', end).off('SIGTERM', end)
  }
}
