import { type Received, startReceiver, verifyRequest } from '../servers/receiver.ts'

/** What an application saw of one event. */
export interface Sighting {
  eventId: string
  deliveryIds: Set<string>
  subject: string
  type: string
  /** When it came first, on this process's monotonic clock. */
  firstAtMs: number
  times: number
}

/** An application that takes webhooks and keeps books: what came, how often, under which ids, with a good signature or not. */
export interface Application {
  url: string
  trust(secret: string): void
  readonly seen: ReadonlyMap<string, Sighting>
  readonly badSignatures: number
  close(): Promise<void>
}

export async function startApplication(): Promise<Application> {
  const receiver = await startReceiver()
  const seen = new Map<string, Sighting>()
  let trusted: string | undefined
  let badSignatures = 0

  function note(request: Received): void {
    if (trusted !== undefined && !isGood(trusted, request)) badSignatures += 1
    const event = JSON.parse(request.body)
    const sighting = seen.get(event.id) ?? {
      eventId: event.id,
      deliveryIds: new Set<string>(),
      subject: String(event.data?.subject ?? ''),
      type: event.type,
      firstAtMs: request.atMs,
      times: 0,
    }
    sighting.times += 1
    sighting.deliveryIds.add(event.deliveryId)
    seen.set(event.id, sighting)
  }
  receiver.always((request) => {
    note(request)
    return { status: 204 }
  })

  return {
    url: receiver.url,
    trust(secret) {
      trusted = secret
    },
    seen,
    get badSignatures() {
      return badSignatures
    },
    close: () => receiver.close(),
  }
}

function isGood(secret: string, request: Received): boolean {
  try {
    verifyRequest(secret, request)
    return true
  } catch {
    return false
  }
}
