import { expect, it, onTestFinished } from 'vitest'
import { closing } from '../../../../test/kit/closing.ts'
import { eventually } from '../../../../test/kit/eventually.ts'
import { FolderMirror } from '../../../../test/kit/mailbox/folder-mirror.ts'
import { openGuard } from '../../../../test/servers/imap-mailbox.ts'
import { startScriptedImap } from '../../../../test/servers/scripted-imap.ts'
import { systemClock } from '../../../platform/time/clock.ts'
import { imapProvider } from '../provider.ts'

const HEADER = 'Subject: announced\r\n\r\n'

/** A watched INBOX. `announced` lists what the server says in one IDLE after the other; `uids` are its messages from then on. */
async function watching(announced: readonly string[], uids: readonly number[] = [1]) {
  const left = [...announced]
  let messages: readonly number[] = []
  let flags = ''
  const server = closing(
    await startScriptedImap({
      get status() {
        const unseen = flags === '' ? messages.length : 0
        return `MESSAGES ${messages.length} UNSEEN ${unseen} UIDNEXT ${messages.length + 1} UIDVALIDITY 7`
      },
      onIdle(say) {
        const next = left.shift()
        if (next === undefined) return
        messages = uids
        if (next.includes('Seen')) flags = '\\Seen'
        say(next)
      },
      onUid(command, say) {
        const structure = 'BODYSTRUCTURE ("TEXT" "PLAIN" NIL NIL NIL "7BIT" 2 1)'
        const content = `${structure} BODY[HEADER]<0> {${HEADER.length}}\r\n${HEADER} BODY[TEXT]<0> {2}\r\n\r\n`
        const items = command.includes('HEADER') ? ` ${content}` : ''
        say(...messages.map((uid) => `${uid} FETCH (UID ${uid} FLAGS (${flags})${items})`))
      },
    }),
  )
  const { mail } = imapProvider({ guard: openGuard, clock: systemClock })
  onTestFinished(() => mail.closeConnections())
  let changes = 0
  const onChange = () => {
    changes += 1
  }
  const { signal } = new AbortController()
  const session = closing(await mail.openSession(server.access, { onChange, onClose: () => {} }, signal))
  const mirror = new FolderMirror('INBOX')
  await mirror.sync(session)
  await session.watch('INBOX')
  for (let seen = 0; seen < announced.length; seen += 1) {
    await eventually(() => expect(changes).toBeGreaterThan(seen))
    await mirror.sync(session)
  }
  await eventually(() => expect(server.commands.at(-1)).toBe('IDLE'))
  return { mirror, commands: server.commands.slice(server.commands.indexOf('IDLE')) }
}

it('fetches announced messages with one command and returns to IDLE', async () => {
  const { mirror, commands } = await watching(['1 EXISTS'])
  expect(mirror.subjects()).toEqual(['announced'])
  expect(commands).toEqual(['IDLE', 'DONE', 'UID', 'IDLE'])
})

it('sends no command for an announcement of messages that it has fetched', async () => {
  const { mirror, commands } = await watching(['1 EXISTS', '2 EXISTS'], [1, 2])
  expect(mirror.subjects()).toEqual(['announced', 'announced'])
  expect(commands).toEqual(['IDLE', 'DONE', 'UID', 'IDLE'])
})

it('checks flags and removals once the server reports more than new messages', async () => {
  const { mirror, commands } = await watching(['1 EXISTS', '1 FETCH (FLAGS (\\Seen))'])
  expect(mirror.bySubject('announced').unread).toBe(false)
  expect(commands).toContain('STATUS')
})
