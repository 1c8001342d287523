import { didYouMean } from '../../platform/errors/did-you-mean.ts'
import { type Command, UsageError } from '../command.ts'
import { printJson } from '../json.ts'
import { ONLINE_OPTIONS } from './client.ts'
import { explainStatus } from './failures.ts'
import { openClient, runningService } from './running-service.ts'

/** Longer than the longest delivery attempt of the service. */
const TIMEOUT_MS = 90_000

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
    const service = runningService(args)
    const posthorn = await openClient(service)
    const result = await posthorn.endpoints
      .sendTestEvent({ type }, { timeoutMs: TIMEOUT_MS })
      .catch((error: unknown) => refuse(error, service.url, type, eventTypes))
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

async function refuse(error: unknown, url: string, type: string, eventTypes: readonly string[]): Promise<never> {
  const { BadRequestError } = await import('@posthorn/sdk')
  const explained = await explainStatus(error, url)
  if (!(error instanceof BadRequestError) || !(explained instanceof Error)) throw explained
  throw new UsageError(`${explained.message}${didYouMean(type, eventTypes)}`)
}
