import { type Received, startReceiver, verifyRequest } from '../servers/receiver.ts'

/** One event as the application received it, possibly several times. */
export interface ReceivedEvent {
  eventId: string
  deliveryIds: Set<string>
  /** Of a message, or the summary of a calendar event. */
  subject: string
  type: string
  accountId: string
  /** The message's id in a message event. */
  objectId: string
  /** First arrival, on this process's monotonic clock. */
  firstAtMs: number
  times: number
}

/** An application that receives webhooks, verifies their signatures and counts each event. */
export interface Application {
  url: string
  trust(secret: string): void
  /** By event id. */
  readonly received: ReadonlyMap<string, ReceivedEvent>
  readonly badSignatures: number
  close(): Promise<void>
}

/** `delayMs`: how long it takes to respond. `verifies`: false where the clock of the service is wrong, which makes every signature invalid. */
export async function startApplication({ delayMs = 0, verifies = true } = {}): Promise<Application> {
  const receiver = await startReceiver()
  const received = new Map<string, ReceivedEvent>()
  let trusted: string | undefined
  let badSignatures = 0

  receiver.always((request) => {
    if (trusted !== undefined && !isSigned(trusted, request)) badSignatures += 1
    const { id, deliveryId, type, data, accountId, objectId } = JSON.parse(request.body)
    const event = received.get(id) ?? {
      eventId: id,
      deliveryIds: new Set<string>(),
      subject: String(data?.subject ?? data?.summary ?? ''),
      type,
      accountId: String(accountId),
      objectId: String(objectId),
      firstAtMs: request.atMs,
      times: 0,
    }
    event.times += 1
    event.deliveryIds.add(deliveryId)
    received.set(id, event)
    return { status: 204, delayMs }
  })

  return {
    url: receiver.url,
    trust(secret) {
      if (verifies) trusted = secret
    },
    received,
    get badSignatures() {
      return badSignatures
    },
    close: () => receiver.close(),
  }
}

function isSigned(secret: string, request: Received): boolean {
  try {
    verifyRequest(secret, request)
    return true
  } catch {
    return false
  }
}
