import { expect, it, onTestFinished } from 'vitest'
import { startDovecot } from '../../../../test/servers/dovecot.ts'
import { otherClient } from '../../../../test/servers/imap-mailbox.ts'
import type { ImapClient } from '../connection/client.ts'
import { FetchGuard } from './fetch-guard.ts'

const USER = 'guard@mail.example'
const DELETED_UID = 99

it('a control message that was deleted says nothing about those that can be read', async () => {
  const dovecot = await startDovecot()
  onTestFinished(() => dovecot.stop())
  await dovecot.addUser(USER, 'secret')
  await dovecot.deliver(USER, 'Subject: a\r\n\r\na')
  const suspects: object[] = []
  const guard = new FetchGuard(
    {
      losses: 2,
      control: async () => DELETED_UID,
      suspect: async (suspect) => void suspects.push(suspect),
    },
    200,
  )
  await otherClient(dovecot, USER, 'secret', async (imap) => {
    await imap.mailboxOpen('INBOX')
    await guard.begin([1], { imap } as ImapClient, { uidValidity: '1', isNew: () => true })
  })
  expect(suspects).toEqual([{ uid: 1, uidValidity: '1', isNew: true, isReading: false }])
})
