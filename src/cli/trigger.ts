import { type Command, UsageError } from './command.ts'
import { failureOf, reasonOf, runningService, SERVICE_OPTIONS } from './running-service.ts'

/** Longer than the longest attempt that the service makes while we wait. */
const TIMEOUT_MS = 90_000

interface Answer {
  eventId: string
  deliveries: { endpointId: string; status: string; responseStatus: number | null; error: { message: string } | null }[]
}

/** Has a running service send a test event of one type to everyone who hears of it, and tells what each endpoint answered. */
export const triggerCommand: Command = {
  operands: ['an event type, such as message.received'],
  options: SERVICE_OPTIONS,
  async run(terminal, given) {
    const [type = ''] = given.operands
    const { url, key } = runningService(given)
    const response = await fetch(`${url}/webhooks/test-event`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ type }),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    }).catch((error: unknown) => {
      throw new Error(`No connection to ${url}: ${reasonOf(error)}.`)
    })
    if (response.status === 400) throw new UsageError(await failureOf(response))
    if (!response.ok) throw new Error(await failureOf(response))
    const { eventId, deliveries }: Answer = JSON.parse(await response.text())
    terminal.out(`${type}  ${eventId}`)
    for (const { endpointId, status, responseStatus, error } of deliveries) {
      terminal.out(`  ${endpointId}  ${status}  ${error?.message ?? responseStatus ?? ''}`)
    }
    if (deliveries.length === 0) terminal.out('  No active endpoint hears of it; `posthorn listen` does.')
  },
}
