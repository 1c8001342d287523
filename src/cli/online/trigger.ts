import { describeError } from '../../platform/errors/describe-error.ts'
import { didYouMean } from '../../platform/errors/did-you-mean.ts'
import { type Command, UsageError } from '../command.ts'
import { printJson } from '../json.ts'
import { ONLINE_OPTIONS } from './client.ts'
import { describeFailure, runningService } from './running-service.ts'

/** Longer than the longest delivery attempt of the service. */
const TIMEOUT_MS = 90_000

interface TestEventResponse {
  eventId: string
  deliveries: { endpointId: string; status: string; responseStatus: number | null; error: { message: string } | null }[]
}

/** Makes a running service send a test event to its subscribed endpoints, and prints the result of each delivery. */
export const triggerCommand = (eventTypes: readonly string[]): Command => ({
  summary: 'make a running service send a test event',
  operand: '<type>',
  options: { list: { about: 'list the event types' }, ...ONLINE_OPTIONS },
  examples: ['posthorn trigger message.received', 'posthorn trigger --list'],
  async run(terminal, args) {
    const isJson = args.options.json !== undefined
    if (args.options.list !== undefined) {
      if (isJson) return printJson(terminal, eventTypes)
      for (const type of eventTypes) terminal.out(type)
      return
    }
    const [type] = args.operands
    if (type === undefined) throw new UsageError('trigger needs an event type. List them: posthorn trigger --list')
    const { url, key } = runningService(args)
    const response = await fetch(`${url}/webhooks/test-event`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ type }),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    }).catch((error: unknown) => {
      throw new Error(`Cannot reach ${url} (${describeError(error)}). Check --url, and that the service is running.`)
    })
    if (response.status === 400)
      throw new UsageError(`${await describeFailure(response)}${didYouMean(type, eventTypes)}`)
    if (!response.ok) throw new Error(await describeFailure(response))
    const result: TestEventResponse = JSON.parse(await response.text())
    if (isJson) return printJson(terminal, result)
    const { eventId, deliveries } = result
    terminal.out(`${type}  ${eventId}`)
    for (const { endpointId, status, responseStatus, error } of deliveries) {
      terminal.out(`  ${endpointId}  ${status}  ${error?.message ?? responseStatus ?? ''}`)
    }
    if (deliveries.length === 0)
      terminal.out(
        '  No active endpoint subscribes to this type. Only event streams, such as `posthorn listen`, receive the event.',
      )
  },
})
