import { systemClock } from '../lib/clock.ts'
import { generateSigningSecret, webhookHeaders } from '../lib/signature.ts'
import { isoTime } from '../lib/time.ts'
import { type Command, required, type Terminal, UsageError } from './command.ts'
import { eventSource } from './event-source.ts'
import { reasonOf, runningService, SERVICE_OPTIONS } from './running-service.ts'

/** An event of `GET /events/stream`. */
interface StreamedEvent {
  position: number
  test: boolean
  id: string
  type: string
}

const TIMEOUT_MS = 30_000
const WIDEST_TYPE = 24

/**
 * For development: sends the events of a running service as webhooks to an address that only this machine can reach, one
 * after the other, without retries, until SIGINT or SIGTERM.
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
        onOpen: () => terminal.out(`Forwarding events of ${service.url} to ${forward}. Press Ctrl-C to stop.`),
        onDisconnect: (reason: string) => terminal.error(`Cannot reach ${service.url} (${reason}). Retrying.`),
      }
      for await (const { data } of eventSource(options, signal)) {
        await forwardEvent(JSON.parse(data), forward, secret, terminal, signal)
      }
    })
  },
}

async function forwardEvent(
  event: StreamedEvent,
  forward: string,
  secret: string,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<void> {
  const startedMs = systemClock.monotonic()
  const result = await send(event, forward, secret, signal)
  if (signal.aborted) return
  const tookMs = Math.round(systemClock.monotonic() - startedMs)
  const at = isoTime(systemClock.now()).slice(11, 19)
  const mark = event.test ? ' (test)' : ''
  terminal.out(`${at}  ${event.type.padEnd(WIDEST_TYPE)} ${event.id}${mark} -> ${result} in ${tookMs} ms`)
}

/** Sends the body and headers of a real delivery, with a delivery id derived from the event id. */
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
    return `failed (${reasonOf(error)})`
  }
}

async function untilSignal(work: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const controller = new AbortController()
  const end = () => controller.abort()
  process.once('SIGINT', end).once('SIGTERM', end)
  try {
    await work(controller.signal)
  } finally {
    process.off('SIGINT', end).off('SIGTERM', end)
  }
}
