import { buffer } from 'node:stream/consumers'
import { expect, it, onTestFinished } from 'vitest'
import { closing } from '../../../../test/kit/closing.ts'
import { openGuard } from '../../../../test/servers/imap-mailbox.ts'
import { startScriptedImap } from '../../../../test/servers/scripted-imap.ts'
import { systemClock } from '../../../platform/time/clock.ts'
import { imapProvider } from '../provider.ts'

const STRUCTURE =
  '(("text" "plain" NIL NIL NIL "7bit" 3 1)("application" "pdf" ("name" "a.pdf") NIL NIL "base64" 0 NIL ("attachment" ("filename" "a.pdf"))) "mixed")'

/** A server that writes every section as NIL. `isDeleted` becomes true with the NOOP that reports it. */
async function reads({ isDeleted }: { isDeleted: boolean }) {
  let isGone = false
  const server = closing(
    await startScriptedImap({
      selected: ['1 EXISTS', 'OK [UIDVALIDITY 7] ok', 'OK [UIDNEXT 2] ok'],
      onCommand(name) {
        if (name === 'NOOP') isGone = isDeleted
        return false
      },
      onUid(command, say) {
        if (!command.startsWith('FETCH') || isGone) return
        const sections = [...command.matchAll(/BODY\.PEEK\[([A-Z0-9.]+)\]<(\d+)/g)]
        const items = sections.map(([, section, start]) => `BODY[${section}]<${start}> NIL`)
        if (command.includes('BODYSTRUCTURE')) items.push(`BODYSTRUCTURE ${STRUCTURE}`)
        say(`1 FETCH (${['UID 1', 'FLAGS ()', 'RFC822.SIZE 90', ...items].join(' ')})`)
      },
    }),
  )
  const { mail } = imapProvider({ guard: openGuard, clock: systemClock })
  onTestFinished(() => mail.closeConnections())
  return mail.liveReads(server.access)
}

const MESSAGE = { folderPath: 'INBOX', uidValidity: '7', uid: 1 }

it('takes NIL for the bytes of an empty part', async () => {
  const live = await reads({ isDeleted: false })
  const attachment = await live.openAttachment(MESSAGE, '2')
  expect(await buffer(await attachment.read())).toEqual(Buffer.alloc(0))
  expect(await live.getBody(MESSAGE)).toMatchObject({ headers: [] })
})

it('takes NIL for a deleted message when the message is no longer there', async () => {
  const live = await reads({ isDeleted: true })
  const attachment = await live.openAttachment(MESSAGE, '2')
  await expect(attachment.read().then(buffer)).rejects.toMatchObject({ kind: 'not_found' })
})
