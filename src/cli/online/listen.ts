import { mkdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import type { Event } from '@posthorn/sdk'
import { generateSigningSecret, webhookHeaders } from '../../platform/crypto/signature.ts'
import { describeError } from '../../platform/errors/describe-error.ts'
import { findSecret, writeSecret } from '../../platform/secrets/index.ts'
import { systemClock } from '../../platform/time/clock.ts'
import { isoTime } from '../../platform/time/time.ts'
import { type Command, UsageError } from '../command.ts'
import { untilSignal } from '../until-signal.ts'
import { explainStatus } from './failures.ts'
import { openClient, runningService, SERVICE_OPTIONS } from './running-service.ts'

const TIMEOUT_MS = 30_000
const WIDEST_TYPE = 24

/**
 * For development: prints the events of a running service until SIGINT or SIGTERM. With --forward it also sends them as
 * webhooks to an address that only this machine can reach, one after the other, without retries.
 */
export const listenCommand: Command = {
  summary: 'print the events of a running service, or forward them to a local address',
  options: {
    forward: { value: 'URL', about: 'send each event there as a signed webhook' },
    events: { value: 'LIST', about: 'only these types, such as message.*,account.connected' },
    account: { value: 'ID', about: 'only the events of this account' },
    json: { about: 'print each event as one line of JSON; everything else goes to stderr' },
    'print-json': { about: 'another name for --json' },
    secret: { value: 'TEXT', about: 'the signing secret (whsec_…); default: the one in ~/.posthorn/listen-secret' },
    ...SERVICE_OPTIONS,
  },
  examples: [
    'posthorn listen',
    'posthorn listen --forward http://localhost:3000/hook',
    "posthorn listen --events 'message.*' --json | jq .data",
    'posthorn listen --url https://mail.example.com --key phk_…',
  ],
  async run(terminal, args) {
    const { forward, account: accountId, events: type } = args.options
    if (forward !== undefined && (!URL.canParse(forward) || !/^https?:$/.test(new URL(forward).protocol))) {
      throw new UsageError('--forward must be an address such as http://localhost:3000/hook.')
    }
    const service = runningService(args)
    const isJson = args.options.json !== undefined || args.options['print-json'] !== undefined
    const say = isJson ? terminal.error : terminal.out
    const secret = forward === undefined ? '' : (args.options.secret ?? listenSecret())
    if (forward !== undefined) say(`Signing secret: ${secret}`)
    const doing =
      forward === undefined ? `Showing events of ${service.url}` : `Forwarding events of ${service.url} to ${forward}`
    await untilSignal(async (signal) => {
      const posthorn = await openClient(service)
      const options = {
        signal,
        onOpen: () => say(`${doing}. Press Ctrl-C to stop.`),
        onInterruption: ({ message }: Error) => terminal.error(`${message} Retrying.`),
      }
      const show = async (event: Event) => {
        if (isJson) terminal.out(JSON.stringify(event))
        if (forward !== undefined) await forwardEvent(event, forward, secret, say, signal)
        else if (!isJson) say(`${formatEvent(event)}${event.accountId ? ` [${event.accountId}]` : ''}`)
      }
      try {
        for await (const event of posthorn.events.stream({ type, accountId }, options)) await show(event)
      } catch (error) {
        if (signal.aborted) return
        throw await explainStatus(error, service.url)
      }
    })
  },
}

/** Time, type and id, such as `08:05:09  message.received         evt_… (test)`. */
function formatEvent({ type, id, test }: Event): string {
  const at = isoTime(systemClock.now()).slice(11, 19)
  return `${at}  ${type.padEnd(WIDEST_TYPE)} ${id}${test ? ' (test)' : ''}`
}

async function forwardEvent(
  event: Event,
  forward: string,
  secret: string,
  say: (text: string) => void,
  signal: AbortSignal,
): Promise<void> {
  const startedMs = systemClock.monotonic()
  const result = await send(event, forward, secret, signal)
  if (signal.aborted) return
  const tookMs = Math.round(systemClock.monotonic() - startedMs)
  say(`${formatEvent(event)} -> ${result} in ${tookMs} ms`)
}

/** Sends the body and headers of a real delivery, with a delivery id derived from the event id. */
async function send(event: Event, forward: string, secret: string, signal: AbortSignal): Promise<string> {
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
    return `failed (${describeError(error)})`
  }
}

/** The signing secret of this user's `listen`, generated once, so that an application needs to be given it only once. */
function listenSecret(): string {
  const folder = join(homedir(), '.posthorn')
  const file = join(folder, 'listen-secret')
  const found = findSecret(file)
  if (found !== undefined) return found
  const secret = generateSigningSecret()
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  writeSecret(file, secret)
  return secret
}
