import { BROWSER_ACCEPT, fieldValue, findRefresh } from '../test/kit/accounts/hosted.ts'
import { eventually } from '../test/kit/eventually.ts'
import { numberedMessage, PASSWORD } from '../test/scenarios/mailboxes.ts'
import type { Dovecot } from '../test/servers/dovecot.ts'
import { connectBare } from './bare-imap.ts'
import type { ImapScenario } from './stage.ts'

/** How many messages the first page has. */
export const PAGE = 50
const USER = 'bench@mail.example'

interface FirstListed {
  /** From the creation of the session. In ms, as the next. */
  sinceSessionMs: number
  /** From the post of the form. */
  sincePostMs: number
  /** Newest first. */
  subjects: string[]
}

interface MessagePage {
  messages: { subject: string }[]
  pagination: { total: number }
}

/** Delivers messages to the mailbox that both connect. */
export async function fillMailbox(dovecot: Dovecot, messages: number): Promise<void> {
  const subjects = Array.from({ length: messages }, (_, index) => `first-${index}`)
  await dovecot.addUser(USER, PASSWORD)
  await dovecot.deliverMany(
    USER,
    subjects.map((subject) => Buffer.from(numberedMessage(subject))),
  )
}

/**
 * Connects the mailbox by the hosted form, until `GET /messages` returns its newest page, and waits until the sync is complete, which
 * would slow down the next run.
 */
export async function connectByForm(
  { api, service, dovecot }: Pick<ImapScenario, 'api' | 'service' | 'dovecot'>,
  customUserId: string,
  messages: number,
): Promise<FirstListed> {
  const startedMs = performance.now()
  const session = await api.call<{ code: string; authUrl: string }>('POST', '/auth/sessions', {
    provider: 'imap',
    customUserId,
    redirectUri: 'http://localhost/done',
  })
  const local = service.url + new URL(session.authUrl).pathname + new URL(session.authUrl).search
  const opened = await fetch(local, { headers: { accept: BROWSER_ACCEPT } })
  const page = await opened.text()
  const cookie = opened.headers
    .getSetCookie()
    .map((line) => line.split(';')[0])
    .join('; ')
  const form = new URLSearchParams({
    session: session.code,
    state: fieldValue(page, 'state'),
    email: USER,
    username: USER,
    password: PASSWORD,
    host: dovecot.host,
    port: String(dovecot.imapsPort),
    secure: 'true',
    allowSelfSigned: 'true',
  })
  const postedMs = performance.now()
  const connected = await fetch(`${service.url}/auth/authorize/imap`, {
    method: 'POST',
    body: form,
    headers: { accept: BROWSER_ACCEPT, cookie },
  })
  const accountId = new URL(findRefresh(await connected.text()) ?? '').searchParams.get('accountId')
  const list = () => api.call<MessagePage>('GET', `/accounts/${accountId}/messages?limit=${PAGE}`)
  const listNewest = async () => {
    const read = await list()
    if (read.messages.length < PAGE) throw new Error('the first page is not complete')
    return read
  }
  const first = await eventually(listNewest, 30_000, 5)
  const listedMs = performance.now()
  await eventually(async () => (await list()).pagination.total === messages, 120_000, 200)
  return {
    sinceSessionMs: listedMs - startedMs,
    sincePostMs: listedMs - postedMs,
    subjects: first.messages.map(({ subject }) => subject),
  }
}

/** A bare imapflow client that connects, selects the folder and fetches what the newest page consists of. */
export async function fetchFirstBare({ host, imapsPort }: Dovecot): Promise<{ tookMs: number; subjects: string[] }> {
  const startedMs = performance.now()
  const client = await connectBare({ host, port: imapsPort, user: USER, password: PASSWORD })
  const { exists } = await client.mailboxOpen('INBOX', { readOnly: true })
  const items = { uid: true, envelope: true, bodyStructure: true, flags: true, internalDate: true, size: true }
  const parts = { headers: true, bodyParts: [{ key: '1', start: 0, maxLength: 4096 }] }
  const subjects: string[] = []
  for await (const { envelope } of client.fetch(`${exists - PAGE + 1}:*`, { ...items, ...parts })) {
    subjects.unshift(envelope?.subject ?? '')
  }
  const tookMs = performance.now() - startedMs
  await client.logout()
  return { tookMs, subjects }
}

/** Throws unless both found the same messages. */
export function checkSame(ours: readonly string[], bare: readonly string[]): void {
  if (ours.join() !== bare.join()) throw new Error('The first page is not that of the bare client.')
}
