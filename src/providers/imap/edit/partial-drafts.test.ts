import { expect, it, onTestFinished } from 'vitest'
import { closing } from '../../../../test/kit/closing.ts'
import { openGuard } from '../../../../test/servers/imap-mailbox.ts'
import { startScriptedImap } from '../../../../test/servers/scripted-imap.ts'
import { systemClock } from '../../../platform/time/clock.ts'
import { imapProvider } from '../provider.ts'

const HEADER = 'Subject: x\r\nMessage-ID: <1@x>\r\n\r\n'
const SOURCE = `${HEADER}${'text '.repeat(40)}\r\n`

/** Changes a draft on a server that ends a read of everything after `served` bytes and claims the size `claimed`. */
async function change({ served, claimed }: { served: number; claimed: number }) {
  const server = closing(
    await startScriptedImap({
      folders: ['Drafts'],
      selected: ['1 EXISTS', 'OK [UIDVALIDITY 7] ok', 'OK [UIDNEXT 2] ok'],
      onUid(command, say) {
        if (command.startsWith('SEARCH')) say('SEARCH 1')
        if (!command.startsWith('FETCH')) return
        const items = ['UID 1', 'FLAGS (\\Draft)', `RFC822.SIZE ${claimed}`]
        for (const [, section = '', start, length] of command.matchAll(/BODY\.PEEK\[([A-Z]*)\]<(\d+)\.(\d+)>/g)) {
          const from = Number(start)
          const content = section === 'HEADER' ? HEADER : from === 0 ? SOURCE.slice(0, served) : SOURCE
          const bytes = content.slice(from, from + Number(length))
          items.push(`BODY[${section}]<${start}> {${bytes.length}}\r\n${bytes}`)
        }
        say(`1 FETCH (${items.join(' ')})`)
      },
    }),
  )
  const { mail } = imapProvider({ guard: openGuard, clock: systemClock })
  onTestFinished(() => mail.closeConnections())
  const drafts = mail.drafts(server.access, 'Drafts')
  const ref = { draftId: null, providerMessageId: '', messageId: '<1@x>', location: { uidValidity: '7', uid: 1 } }
  const error = await drafts.replace(ref, { subject: 'new', messageId: '<2@x>', date: 0 }).catch((reason) => reason)
  return { error, commands: server.commands }
}

it.each([
  ['it knows the size', { served: 100, claimed: SOURCE.length }],
  ['it estimates the size', { served: 100, claimed: SOURCE.length + 7 }],
  ['it sends nothing', { served: 0, claimed: SOURCE.length + 7 }],
])('changes no draft of which a server sends only the beginning, when %s', async (_, server) => {
  const { error, commands } = await change(server)
  expect(error).toMatchObject({ name: 'ProviderError', kind: 'unavailable' })
  expect(error.message).toMatch(/^reading a draft: /)
  expect(commands).not.toContain('APPEND')
})

it('changes a draft that it could read to the end', async () => {
  const { commands } = await change({ served: SOURCE.length, claimed: SOURCE.length })
  expect(commands).toContain('APPEND')
})
