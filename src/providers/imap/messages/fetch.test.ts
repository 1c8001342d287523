import { describe, expect, it, onTestFinished } from 'vitest'
import { closing } from '../../../../test/kit/closing.ts'
import { openGuard } from '../../../../test/servers/imap-mailbox.ts'
import { type ImapScript, startScriptedImap } from '../../../../test/servers/scripted-imap.ts'
import { systemClock } from '../../../platform/time/clock.ts'
import { imapProvider } from '../provider.ts'

const UNREADABLE = '((((('
const STRUCTURE =
  '(("text" "plain" NIL NIL NIL "7bit" 3 1)("application" "pdf" ("name" "a.pdf") NIL NIL "base64" 4 NIL ("attachment" ("filename" "a.pdf"))) "mixed")'

interface Row {
  /** NIL for a message with an empty header. */
  header?: string
  structure?: string
}

/** A folder whose messages are `rows`, by UID. `onFetch` may change it before the response. */
async function sync(
  rows: Map<number, Row>,
  onFetch: (command: string) => void = () => {},
  { refused }: { refused?: string } = {},
) {
  const fetches: string[] = []
  const buildRow = (uid: number, command: string) => {
    const { header = `Subject: ${uid}\r\n\r\n`, structure = STRUCTURE } = rows.get(uid) ?? {}
    const items = [`UID ${uid}`, 'FLAGS ()', 'RFC822.SIZE 90', 'INTERNALDATE "27-Nov-2026 09:00:00 +0000"']
    if (command.includes('BODYSTRUCTURE')) items.push(`BODYSTRUCTURE ${structure}`)
    const literal = header === 'NIL' ? 'NIL' : `{${header.length}}\r\n${header}`
    if (command.includes('HEADER')) items.push(`BODY[HEADER]<0> ${literal}`, 'BODY[TEXT]<0> {3}\r\nabc')
    return `${uid} FETCH (${items.join(' ')})`
  }
  const script: ImapScript = {
    onCommand(_name, socket, tag, line) {
      if (refused === undefined || !line.includes(refused)) return false
      socket.write(`${tag} NO refused\r\n`)
      return true
    },
    selected: [`${rows.size} EXISTS`, 'OK [UIDVALIDITY 7] ok', `OK [UIDNEXT ${rows.size + 1}] ok`],
    status: `MESSAGES ${rows.size} UNSEEN 0 UIDNEXT ${rows.size + 1}`,
    onUid(command, say) {
      const all = [...rows.keys()]
      if (command.startsWith('SEARCH')) say(`SEARCH ${all.join(' ')}`)
      if (!command.startsWith('FETCH')) return
      fetches.push(command)
      onFetch(command)
      const [, range = ''] = command.split(' ')
      const [low = 1, high = low] = range
        .split(':')
        .map((bound) => (bound === '*' ? Number.MAX_SAFE_INTEGER : Number(bound)))
      say(...[...rows.keys()].filter((uid) => uid >= low && uid <= high).map((uid) => buildRow(uid, command)))
    },
  }
  const server = closing(await startScriptedImap(script))
  const { mail } = imapProvider({ guard: openGuard, clock: systemClock })
  onTestFinished(() => mail.closeConnections())
  const events = { onChange() {}, onClose() {} }
  const session = closing(await mail.openSession(server.access, events, new AbortController().signal))
  const messages = []
  const storedState = { listStored: async () => [], newest: async () => [], knownCount: async () => 0 }
  const request = { path: 'INBOX', initialMessages: 10, signal: new AbortController().signal, ...storedState }
  const cursor = JSON.stringify({
    v: 1,
    uidValidity: '7',
    uidNext: 1,
    modseq: null,
    baseline: 0,
    low: 1,
    pending: null,
    exists: 0,
    unseen: 0,
    comparedAt: systemClock.now(),
  })
  for await (const step of session.syncFolder({ ...request, cursor })) messages.push(...step.added)
  return { messages: new Map(messages.map((message) => [message.location?.uid, message])), fetches }
}

describe('a message whose row cannot be parsed', () => {
  it('costs the others nothing when the server refuses to return its source', async () => {
    const rows = new Map<number, Row>([
      [1, {}],
      [2, { structure: UNREADABLE }],
      [3, {}],
    ])
    const { messages } = await sync(rows, () => {}, { refused: 'BODY.PEEK[]' })
    expect([...messages.keys()].sort()).toEqual([1, 2, 3])
    expect([1, 2, 3].map((uid) => messages.get(uid)?.subject)).toEqual(['1', '2', '3'])
    expect(messages.get(2)?.error).toMatch(/structure/)
    expect([1, 3].map((uid) => messages.get(uid)?.attachments.length)).toEqual([1, 1])
  })

  it('costs the messages that arrive meanwhile nothing', async () => {
    const rows = new Map<number, Row>([
      [1, {}],
      [2, { structure: UNREADABLE }],
    ])
    const { messages } = await sync(rows, (command) => {
      // Arrives after the first response and before the folder is listed again.
      if (!command.includes('HEADER')) rows.set(3, {})
    })
    expect([...messages].map(([uid, { error, attachments }]) => [uid, error === null, attachments.length])).toEqual([
      [1, true, 1],
      [2, false, 0],
      [3, true, 1],
    ])
  })

  it('is fetched again by itself, because the next response may be readable', async () => {
    const rows = new Map<number, Row>([[1, { structure: UNREADABLE }]])
    const { messages } = await sync(rows, (command) => {
      if (!command.includes('HEADER')) rows.set(1, {})
    })
    expect(messages.get(1)).toMatchObject({ error: null, subject: '1', attachments: [{ filename: 'a.pdf' }] })
  })
})

it('stores a message with an empty header that the server writes as NIL', async () => {
  const rows = new Map<number, Row>([
    [1, { header: 'NIL' }],
    [2, {}],
  ])
  const { messages } = await sync(rows)
  expect(messages.get(1)).toMatchObject({ error: null, subject: '', attachments: [{}] })
  expect(messages.get(2)).toMatchObject({ subject: '2' })
})
