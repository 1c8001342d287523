// Compiled, not run: what an application may write, and what the compiler must refuse.
import {
  type Account,
  type Message,
  NotFoundError,
  type Page,
  Posthorn,
  type WebhookEnvelope,
  webhooks,
} from '@posthorn/sdk'

const posthorn = new Posthorn({ baseUrl: 'https://mail.example.com', apiKey: process.env.POSTHORN_API_KEY })

export async function lists(accountId: string, limit: number | undefined): Promise<string[]> {
  const page: Page<Message> = await posthorn.messages.list(accountId, { limit, unread: true })
  const subjects = page.items.map(({ subject }) => subject.toUpperCase())
  for await (const message of posthorn.messages.list(accountId)) subjects.push(message.subject)
  // @ts-expect-error a parameter that the operation does not have
  posthorn.messages.list(accountId, { unraed: true })
  // @ts-expect-error an unknown status
  posthorn.outbox.list({ status: 'lost' })
  // @ts-expect-error the id of the account is missing
  posthorn.messages.list()
  return subjects
}

export async function bodies(accountId: string): Promise<string | null> {
  const { outboxId } = await posthorn.messages.send(accountId, {
    to: ['ada@acme.example'],
    subject: 'Hello',
    body: 'Hi',
  })
  const { status } = await posthorn.outbox.get(outboxId)
  // @ts-expect-error a status that does not exist
  if (status === 'lost') return null
  // @ts-expect-error the body is missing
  await posthorn.drafts.create({ accountId, subject: 'Hello' })
  // @ts-expect-error booleans are no texts
  await posthorn.messages.update(accountId, 'msg_1', { starred: 'yes' })
  // @ts-expect-error an operation that takes no key
  await posthorn.bookings.cancel('bkg_1', {}, { idempotencyKey: 'key' })
  const account: Account = await posthorn.accounts.sync(accountId, { idempotencyKey: 'key' })
  return account.lastSyncAt
}

export async function receives(request: Request): Promise<string> {
  const event = await webhooks.verify(await request.text(), request.headers, ['whsec_a', 'whsec_b'])
  return describe(event)
}

function describe(event: WebhookEnvelope): string {
  switch (event.type) {
    case 'message.received':
      return event.data.from?.email ?? event.data.subject
    case 'message.bounced':
      return event.data.recipients.map(({ email }) => email).join()
    case 'booking.confirmed':
      return event.data.slot.start
    case 'account.connected':
      // @ts-expect-error data of another type
      return event.data.subject
    default:
      return event.type
  }
}

export function errors(error: unknown): number | undefined {
  return error instanceof NotFoundError ? error.status : undefined
}

export async function files(accountId: string, stream: ReadableStream<Uint8Array>, bytes: Buffer): Promise<Blob> {
  const files = {
    contract: new Blob(['%PDF']),
    scan: { content: stream, filename: 'scan.pdf' },
    photo: { content: bytes },
  }
  await posthorn.messages.send(accountId, { to: ['ada@acme.example'], subject: 'Files', body: '' }, { files })
  return (await posthorn.attachments.download(accountId, 'msg_1', 'att_1')).blob()
}
